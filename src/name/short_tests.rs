//! Examples are names from real profiles.

use super::*;
use proptest::prelude::*;

#[test]
fn go() {
    for (name, want) in [
        ("encoding/gob.(*Decoder).Decode", "gob.(*Decoder).Decode"),
        ("github.com/dgraph-io/badger/v4.(*DB).View", "badger/v4.(*DB).View"),
        ("github.com/dgraph-io/badger/v4/skl.(*node).key", "skl.(*node).key"),
        ("github.com/JustinTimperio/gpq_test.TestGPQ.func3", "gpq_test.TestGPQ.func3"),
        ("github.com/JustinTimperio/gpq.(*GPQ[go.shape.int]).DeQueue.func2", "gpq.(*GPQ[…]).DeQueue.func2"),
        ("github.com/JustinTimperio/gpq.NewGPQ[go.shape.int]", "gpq.NewGPQ[…]"),
        ("runtime.mallocgc", "runtime.mallocgc"),
        ("runtime.(*mcache).nextFree", "runtime.(*mcache).nextFree"),
        ("gopkg.in/yaml%2ev3.(*Decoder).Decode", "yaml.v3.(*Decoder).Decode"),
        ("net/http.HandlerFunc.ServeHTTP", "http.HandlerFunc.ServeHTTP"),
        (
            "golbat/decoder/writebehind.(*TypedQueue[go.shape.int64,go.shape.struct { Id int64 \"db:\\\"id\\\"\"; N github.com/guregu/null/v6.Int }]).flush.func2",
            "writebehind.(*TypedQueue[…]).flush.func2",
        ),
        ("go.etcd.io/etcd/api/v3/membershippb.init.0", "membershippb.init.0"),
        ("main.(*T).Method-fm", "main.(*T).Method-fm"),
        ("type:.hash.github.com/hanwen/go-fuse/v2/fs.StableAttr", "type:.hash.fs.StableAttr"),
        ("main.Map[...].Get", "main.Map[…].Get"),
    ] {
        assert_eq!(short_name(name), want);
    }
}

#[test]
fn rust_and_cpp() {
    for (name, want) in [
        (
            "<alloc::vec::Vec<T> as core::iter::Extend<T>>::extend::h0123456789abcdef",
            "<Vec as Extend>::extend",
        ),
        ("<usize as core::ops::arith::Rem>::rem", "<usize as Rem>::rem"),
        ("imageproc::contours::find_contours_with_threshold", "contours::find_contours_with_threshold"),
        ("rayon_core::registry::WorkerThread::wait_until_cold", "WorkerThread::wait_until_cold"),
        ("crossbeam_deque::deque::Injector<T>::steal", "Injector::steal"),
        (
            "hashbrown::rustc_entry::<impl hashbrown::map::HashMap<K,V,S,A>>::rustc_entry",
            "<impl HashMap>::rustc_entry",
        ),
        ("<alloc::vec::Vec<u8>>::push", "Vec::push"),
        ("log::set_logger::{{closure}}::hcb7821323b596727", "log::set_logger::{{closure}}"),
        ("_$LT$core..option..Option$LT$T$GT$$GT$::map::h4d3efd64a17eb7e4", "Option::map"),
        ("std::vector<tokens::Token, std::allocator<tokens::Token> >::empty", "vector::empty"),
        (
            "std::__cxx11::basic_string<char, std::char_traits<char> >::_M_data(char*)",
            "basic_string::_M_data",
        ),
        ("StringTable::unlink_or_oops_do(BoolObjectClosure*, OopClosure*)", "StringTable::unlink_or_oops_do"),
        ("ChertTable::~ChertTable()", "ChertTable::~ChertTable"),
        ("(anonymous namespace)::run(int)", "run"),
        ("a::b::C::f(int) const::{lambda(int)#1}::operator()(int) const", "C::f::{lambda#1}::operator()"),
        ("main(int, char**)", "main"),
        ("operator new(unsigned long)", "operator new(unsigned long)"),
        ("a::b::operator<< <int>(c&)", "b::operator<<"),
        ("void ns::sort<int>(int*)", "ns::sort"),
        ("ns::f(int) [clone .isra.0]", "ns::f"),
        ("ActionDispatch::Http::Response#body", "Http::Response#body"),
        ("add_token!(::Vector{A}, ::Int64)", "add_token!"),
        ("scan_tokens(::String, ::Vector{Tuple{JuLox.Token, JuLox.Position}})", "scan_tokens"),
    ] {
        assert_eq!(short_name(name), want);
    }
}

#[test]
fn other_languages() {
    for (name, want) in [
        ("java/util/HashMap.put", "HashMap.put"),
        ("java.util.HashMap.put(Object)", "HashMap.put"),
        ("java/util/concurrent/ThreadPoolExecutor:::runWorker_[j]", "ThreadPoolExecutor:::runWorker_[j]"),
        ("kafka/server/KafkaApis$$Lambda_.accept", "KafkaApis$$Lambda_.accept"),
        (
            "java/lang/invoke/LambdaForm$DMH.0x00000008013f2400.newInvokeSpecial",
            "LambdaForm$DMH.0x00000008013f2400.newInvokeSpecial",
        ),
        ("a/b/C$$Lambda$12/0x0000000801.run", "C$$Lambda$12/0x0000000801.run"),
        ("java.base@17.0.1/java.lang.Thread.run", "Thread.run"),
        ("Microsoft.AspNetCore.Mvc!ResourceInvoker.Next", "ResourceInvoker.Next"),
        ("werkzeug/serving.py:-1 - execute", "serving.py:-1 - execute"),
        ("./node_modules/express/lib/router/layer.js:handle:95", "layer.js:handle:95"),
        ("(anonymous)", "(anonymous)"),
        ("processes.forEach", "processes.forEach"),
        ("Module._load", "Module._load"),
        ("<listcomp>", "<listcomp>"),
        ("swapper/0", "swapper/0"),
        ("kworker/0:1H", "kworker/0:1H"),
        ("[unknown]", "[unknown]"),
        ("Minor GC (young)", "Minor GC (young)"),
        ("GET /api/v1.users", "GET /api/v1.users"),
        ("libpthread-2.31.so.start_thread", "libpthread-2.31.so.start_thread"),
        ("", ""),
    ] {
        assert_eq!(short_name(name), want);
    }
}

#[test]
fn names_stay_distinct() {
    let short = |names: &[&str]| short_names(names).join("  ");
    for (names, want) in [
        (&["net/http/pprof.Index", "runtime/pprof.Index"][..], "http/pprof.Index  runtime/pprof.Index"),
        (&["a/b.F[go.shape.int]", "a/b.F[x/y.T]"], "b.F[go.shape.int]  b.F[y.T]"),
        (
            &["core::ptr::drop_in_place<a::B>", "core::ptr::drop_in_place<a::C>", "x::y::z"],
            "ptr::drop_in_place<B>  ptr::drop_in_place<C>  y::z",
        ),
        (&["a.f", "x/a.f"], "a.f  x/a.f"),
        (&["x/a.f", "x/a.f"], "a.f  a.f"),
        (
            &["a::b::c::f::h0123456789abcdef", "a::b::c::f::h0123456789abcdee"],
            "c::f::h0123456789abcdef  c::f::h0123456789abcdee",
        ),
        (&["java.util.List.add(Object)", "java.util.List.add(int)"], "List.add(Object)  List.add(int)"),
        (&["java.util.List.add", "java.awt.List.add"], "util.List.add  awt.List.add"),
    ] {
        assert_eq!(short(names), want);
    }
}

/// If shortening were not linear, this test would take very long.
#[test]
fn hostile_names_take_linear_time() {
    for piece in [
        "operator<",
        "::",
        "a/",
        "a[b]",
        "a.[",
        "<a as ",
        "<<",
        ">(",
        "f<x>::",
        "a.b!",
        "((",
        "$LT$",
        "_$",
        "%2e",
    ] {
        let name = piece.repeat(200_000);
        for short in short_names(&[&name, &format!("x{name}")]) {
            assert!(!short.is_empty() && short.len() <= name.len() + 1, "{piece}");
        }
        assert!(
            crate::name::package(&name, &name).is_none_or(|package| package.len() <= name.len()),
            "{piece}"
        );
    }
}

fn any_name() -> impl Strategy<Value = String> {
    "([abA]|::|/|\\.|<|>|\\(|\\)|\\[|\\]|\\$|_|!| |v2|é){0,14}"
}

proptest! {
    #[test]
    fn distinct_names_have_distinct_short_names(names in proptest::collection::hash_set(any_name(), 0..40)) {
        let names: Vec<String> = names.into_iter().collect();
        let short = short_names(&names);
        let distinct: std::collections::HashSet<&String> = short.iter().collect();
        prop_assert_eq!(distinct.len(), names.len());
    }

    #[test]
    fn the_order_does_not_matter(mut names in proptest::collection::vec(any_name(), 0..20)) {
        let mut there = short_names(&names);
        names.reverse();
        there.reverse();
        prop_assert_eq!(there, short_names(&names));
    }

    #[test]
    fn any_text_is_a_name(name: String) {
        prop_assert_eq!(short_name(&name).is_empty(), name.is_empty());
    }
}
