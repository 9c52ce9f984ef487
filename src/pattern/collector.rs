//! Functions of garbage collectors.

/// Whether a function is part of a garbage collector: of Go, V8, the JVM, CPython or .NET.
pub fn collects(function: &str) -> bool {
    match function.strip_prefix("runtime.") {
        Some(go) => GO.iter().any(|name| go.starts_with(name)),
        None => OTHERS.iter().any(|name| function.starts_with(name)),
    }
}

/// How the names of Go's collector begin, after `runtime.`.
const GO: [&str; 19] = [
    "gcBgMarkWorker",
    "gcDrain",
    "gcAssist",
    "gcStart",
    "gcMark",
    "gcSweep",
    "gcWriteBarrier",
    "(*gcWork)",
    "(*gcControllerState)",
    "bgsweep",
    "bgscavenge",
    "sweepone",
    "(*sweepLocked)",
    "scan",
    "markroot",
    "greyobject",
    "wbBufFlush",
    "(*scavengerState)",
    "(*pageAlloc).scavenge",
];

/// How the names of other collectors begin.
const OTHERS: [&str; 12] = [
    "(garbage collector)",
    "v8::internal::Heap::CollectGarbage",
    "v8::internal::MarkCompactCollector",
    "v8::internal::Scavenger",
    "G1",
    "ParallelScavengeHeap",
    "PSParallelCompact",
    "DefNewGeneration::collect",
    "GCTaskThread",
    "gc_collect_main",
    "WKS::gc_heap",
    "SVR::gc_heap",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collectors_are_known_by_name() {
        for name in ["runtime.gcBgMarkWorker", "runtime.scanobject", "(garbage collector)", "G1ParTask::work"]
        {
            assert!(collects(name), "{name}");
        }
        for name in ["runtime.mallocgc", "main.scan", "runtime.growslice", "gc.collect"] {
            assert!(!collects(name), "{name}");
        }
    }
}
