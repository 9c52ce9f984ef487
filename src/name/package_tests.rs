//! Examples are names from real profiles.

use super::*;
use proptest::prelude::*;

fn check(examples: &[(&str, &str, &str)]) {
    for (function, file, want) in examples {
        assert_eq!(package(function, file).as_deref().unwrap_or_default(), *want, "{function} in {file:?}");
    }
}

#[test]
fn go() {
    check(&[
        ("encoding/gob.(*Decoder).Decode", "", "encoding/gob"),
        ("github.com/dgraph-io/badger/v4.(*DB).View", "", "github.com/dgraph-io/badger/v4"),
        ("github.com/dgraph-io/badger/v4/skl.(*node).key", "skl.go", "github.com/dgraph-io/badger/v4/skl"),
        ("github.com/JustinTimperio/gpq_test.TestGPQ.func3", "", "github.com/JustinTimperio/gpq_test"),
        ("github.com/JustinTimperio/gpq.NewGPQ[go.shape.int].func1", "", "github.com/JustinTimperio/gpq"),
        ("gopkg.in/yaml%2ev3.(*Decoder).Decode", "", "gopkg.in/yaml.v3"),
        ("gopkg.in/yaml.v3.(*Decoder).Decode", "", "gopkg.in/yaml.v3"),
        ("github.com/uber/jaeger-client-go.(*tags).EmitUint64", "", "github.com/uber/jaeger-client-go"),
        (
            "github.com/s-newman/scorestack/dynamicbeat/vendor/github.com/elastic/beats/libbeat/log.(*r).f",
            "",
            "github.com/elastic/beats/libbeat/log",
        ),
        ("net/http.HandlerFunc.ServeHTTP", "", "net/http"),
        ("sync/atomic.(*Pointer[go.shape.struct { a/b.c []sync/atomic.D }]).Load", "", "sync/atomic"),
        ("vendor/golang.org/x/net/http2/hpack.(*Decoder).decodeString", "", "golang.org/x/net/http2/hpack"),
        ("type:.eq.golbat/geo.AreaName", "", "golbat/geo"),
        ("runtime.mallocgc", "", "runtime"),
        ("runtime.memmove", "/usr/local/go/src/runtime/memmove_amd64.s", "runtime"),
        ("memeqbody", "/usr/local/go/src/internal/bytealg/equal_amd64.s", "internal/bytealg"),
        ("memeqbody", "internal/bytealg/equal_amd64.s", "internal/bytealg"),
        ("aeshashbody", "/home/u/sdk/go1.27/src/runtime/asm_amd64.s", "runtime"),
        (
            "keccakF1600",
            "/home/u/go/pkg/mod/golang.org/x/crypto@v0.31.0/sha3/keccakf_amd64.s",
            "golang.org/x/crypto/sha3",
        ),
        ("keccakF1600", "golang.org/x/crypto@v0.31.0/keccakf_amd64.s", "golang.org/x/crypto"),
        ("memcpy", "../sysdeps/x86_64/memcpy.s", ""),
        ("main.main", "", "main"),
        ("golbat.(*T).f", "", "golbat"),
        ("golbat.run", "/src/main.go", "golbat"),
        ("golbat.run", "", ""),
        ("time.Time.String", "", "time"),
    ]);
}

#[test]
fn rust_and_cpp() {
    check(&[
        ("<alloc::vec::Vec<T> as core::iter::Extend<T>>::extend", "", "alloc"),
        ("<&mut alloc::vec::Vec<T> as core::fmt::Debug>::fmt", "", "alloc"),
        ("<[a::B] as core::fmt::Debug>::fmt", "", "a"),
        ("<[T] as core::fmt::Debug>::fmt", "", "core"),
        ("<&T as core::fmt::Display>::fmt", "", "core"),
        ("<usize as core::ops::arith::Rem>::rem", "", "core"),
        ("<T as alloc::vec::spec_from_elem::SpecFromElem>::from_elem", "", "alloc"),
        ("<dyn std::io::Write as a::B>::c", "", "std"),
        ("<<T as a::B>::C as d::E>::f", "", "a"),
        ("<alloc::boxed::Box<F,A> as core::ops::function::FnOnce<Args>>::call_once", "", "alloc"),
        ("rayon_core::registry::WorkerThread::wait_until_cold", "", "rayon_core"),
        ("core::ptr::drop_in_place<alloc::string::String>", "", "core"),
        ("kumiko_rs::process_image::{{closure}}", "", "kumiko_rs"),
        ("_$LT$core..option..Option$LT$T$GT$$GT$::map::h4d3efd64a17eb7e4", "", "core"),
        ("profile_proto::main", "/home/u/examples/profile_proto.rs", "profile_proto"),
        ("std::vector<tokens::Token>::empty", "", "std"),
        ("std::pair<a::B, int>& c::forward<std::pair<a::B, int>&>(a::B&)", "", "c"),
        ("llvm::ConstraintEliminationPass::run(llvm::Function&)", "", "llvm"),
        ("ChertTable::~ChertTable()", "", ""),
        ("main(std::string, char**)", "", ""),
        ("(anonymous namespace)::run()", "", ""),
        ("operator new(unsigned long)", "", ""),
    ]);
}

#[test]
fn java_and_dot_net() {
    check(&[
        ("java/util/HashMap.put", "", "java.util"),
        ("java.util.HashMap.put(Object)", "HashMap.java", "java.util"),
        ("java/util/concurrent/ThreadPoolExecutor:::runWorker_[j]", "", "java.util.concurrent"),
        ("kafka/server/KafkaApis$$Lambda_.accept", "", "kafka.server"),
        ("sun/nio/ch/NioSocketImpl$1.read", "", "sun.nio.ch"),
        ("java.base@17.0.1/java.lang.Thread.run", "", "java.lang"),
        ("HashMap.put", "HashMap.java", ""),
        ("Microsoft.AspNetCore.Mvc!ResourceInvoker.Next", "", "Microsoft.AspNetCore.Mvc"),
        ("libpthread-2.31.so.start_thread", "", ""),
        ("libc.so.6.__libc_accept", "", ""),
    ]);
}

#[test]
fn scripts() {
    check(&[
        ("encode", "/usr/lib/python3.11/json/encoder.py", "json.encoder"),
        (
            "_pad",
            "/opt/conda/lib/python3.7/site-packages/jax/_src/numpy/lax_numpy.py",
            "jax._src.numpy.lax_numpy",
        ),
        ("f", "/usr/lib/python3/dist-packages/yaml/__init__.py", "yaml"),
        ("encode", r"C:\Python311\Lib\json\encoder.py", "json.encoder"),
        ("_find", "<frozen importlib._bootstrap>", "importlib._bootstrap"),
        ("werkzeug/serving.py:-1 - execute", "werkzeug/serving.py", "werkzeug.serving"),
        ("main", "/home/u/app/run.py", "run"),
        ("f", "<string>", ""),
        ("next", "/usr/app/node_modules/express/lib/router/route.js", "express"),
        ("f", "/a/node_modules/mongodb/node_modules/mongodb-core/lib/x.js", "mongodb-core"),
        ("f", "file:///app/node_modules/@pyroscope/nodejs/dist/index.js", "@pyroscope/nodejs"),
        ("openSync", "node:fs", "node:fs"),
        ("read", "node:internal/streams/readable", "node:internal/streams"),
        ("Module._load", "", ""),
        ("./index.ts:carSearchHandler:31", "/app/index.ts", ""),
        ("GET", "gems/rack-2.2.8/lib/rack/request.rb", "rack"),
        ("[unknown]", "", ""),
        ("swapper/0", "", ""),
        ("", "", ""),
    ]);
}

proptest! {
    #[test]
    fn any_text_has_a_package_or_none(function: String, file: String) {
        package(&function, &file);
    }

    #[test]
    fn anything_like_a_name(function in "([abA]|::|/|\\.|<|>|\\(| as |&|\\[|'|!|@|%|\\$|é| ){0,16}") {
        package(&function, "");
    }
}
