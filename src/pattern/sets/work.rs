//! Kinds of work that every program does on the side: allocating, copying, encoding, hashing, locking and the like. The
//! findings of `prof report` name them, and so can any pattern (`@json`).

use std::sync::LazyLock;

use super::{Expressions, GC, Set, any_of};

/// Makes a set of names that any language may have, names of C functions, and files.
macro_rules! sets {
    ($($id:ident $name:literal: $any:ident, $c:ident, $files:ident;)*) => {
        $(
            static $id: Set = {
                static ANY: Expressions = Expressions { words: &[], regex: LazyLock::new(|| any_of($any)) };
                static C: Expressions = Expressions { words: &[], regex: LazyLock::new(|| any_of($c)) };
                static FILES: Expressions = Expressions { words: &[], regex: LazyLock::new(|| any_of($files)) };
                Set {
                    name: $name,
                    parts: &[],
                    words: None,
                    functions_in_files: &[],
                    functions: &[&ANY],
                    c_functions: &[&C],
                    files: &[&FILES],
                }
            };
        )*

        /// All of them.
        pub(super) static WORK: &[&Set] = &[$(&$id),*];
    };
}

sets! {
    ALLOC "@alloc": ALLOC_ANY, ALLOC_C, NONE;
    MEMCPY "@memcpy": MEMCPY_ANY, MEMCPY_C, NONE;
    JSON "@json": JSON_ANY, JSON_C, JSON_FILES;
    REGEX "@regex": REGEX_ANY, REGEX_C, REGEX_FILES;
    CRYPTO "@crypto": CRYPTO_ANY, CRYPTO_C, CRYPTO_FILES;
    COMPRESS "@compress": COMPRESS_ANY, COMPRESS_C, COMPRESS_FILES;
    LOCK "@lock": LOCK_ANY, LOCK_C, NONE;
    SYSCALL "@syscall": SYSCALL_ANY, SYSCALL_C, NONE;
    LOG "@log": LOG_ANY, NONE, LOG_FILES;
    FORMAT "@format": FORMAT_ANY, FORMAT_C, NONE;
    SETUP "@setup": SETUP_ANY, SETUP_C, SETUP_FILES;
}

/// Allocation and garbage collection: both grow with what is allocated.
pub(super) static MEMORY: Set = Set {
    name: "@memory",
    parts: &[&ALLOC, &GC],
    words: None,
    functions_in_files: &[],
    functions: &[],
    c_functions: &[],
    files: &[],
};

const NONE: &[&str] = &[];

/// Memory is allocated, grown or freed. Garbage collection is the set `@gc`.
const ALLOC_ANY: &[&str] = &[
    // Go.
    r"runtime\.(?:mallocgc\w*|newobject|newarray|makeslice\w*|growslice\w*|makemap\w*|makechan\w*|rawstring\w*|rawbyteslice|rawruneslice|slicebytetostring|stringtoslicebyte|stringtoslicerune|concatstring\w*|concatbyte\w*|persistentalloc\w*|nextFreeFast|allocNeedsZero|deductAssistCredit|publicationBarrier)$",
    r"runtime\.\(\*(?:mcache|mcentral)\)\.|runtime\.\(\*mheap\)\.(?:alloc|grow|free|initSpan)|runtime\.\(\*pageAlloc\)\.(?:alloc|find|grow|free|update)",
    // Rust.
    r"_*(?:rust_(?:alloc|dealloc|realloc|alloc_zeroed)|rdl_(?:alloc|dealloc|realloc|alloc_zeroed))",
    r"<?alloc::(?:alloc::|raw_vec::)",
    // Java's slow paths; the fast path is part of the code that allocates.
    r"(?:InstanceKlass|ObjArrayKlass|TypeArrayKlass)::(?:allocate\w*|multi_allocate)|MemAllocator::|ObjAllocator::|ObjArrayAllocator::|CollectedHeap::(?:mem_allocate|allocate\w*|array_allocate|obj_allocate)|G1CollectedHeap::(?:mem_allocate|allocate_new_tlab|attempt_allocation\w*)|G1Allocator::|ThreadLocalAllocBuffer::|OptoRuntime::new_\w+|Runtime1::new_\w+|InterpreterRuntime::(?:_new|newarray|anewarray)",
    // .NET, V8, Ruby.
    r"(?:.*!)?(?:JIT_New\w*|Alloc_\w*|AllocateObject|AllocateSzArray|AllocateString)\b",
    r"v8::internal::(?:Factory\w*::(?:New|Allocate|Copy)|Heap::Allocate|HeapAllocator::|NewSpace::|PagedSpaceBase::)",
    r"(?:newobj_\w+|rb_(?:newobj|wb_\w*newobj)\w*|objspace_x?(?:malloc|calloc|realloc|free)\w*|ruby_x?(?:malloc|calloc|realloc|free)\w*)$",
];

const ALLOC_C: &[&str] = &[
    r"_*(?:libc_|GI_+)*(?:malloc|calloc|realloc|reallocarray|free|cfree|memalign|aligned_alloc|posix_memalign|valloc|pvalloc)(?:@|$)",
    r"(?:_int_(?:malloc|free|realloc|memalign|free_\w+)|malloc_consolidate|unlink_chunk|sysmalloc|systrim|alloc_perturb|tcache_\w+|_mid_memalign)\b",
    r"(?:je_|_rjem_)\w*(?:alloc|free)\w*|(?:je_)?(?:arena|tcache|large)_(?:malloc|dalloc|ralloc|slab|bin|flush|fill)\w*|mi_\w+|tc_(?:malloc|free|new|delete|calloc|realloc)\w*|tcmalloc::",
    r"operator (?:new|delete)\b|_Zn[wa][jm]|_Zd[la]Pv",
    // Python.
    r"_?Py(?:Object|Mem)_(?:Raw)?(?:Malloc|Calloc|Realloc|Free)|_?PyObject_GC_(?:New|Alloc|Del|Resize)\w*|_?PyObject_New\w*|PyType_GenericAlloc|_PyType_AllocNoTrack|pymalloc_\w+|_PyMem_\w+",
];

/// Memory is copied or filled.
const MEMCPY_ANY: &[&str] = &[
    r"runtime\.(?:memmove|memclrNoHeapPointers\w*|memclrHasPointers|typedmemmove|typedslicecopy|duffcopy|duffzero)$",
    r"java[./]lang[./]System\.arraycopy|java[./]util[./]Arrays\.copyOf\w*|(?:StubRoutines::)?\w*_(?:disjoint_)?arraycopy\w*|Copy::\w+",
    r"core::intrinsics::copy\w*|core::ptr::(?:copy|write_bytes)\w*|<?core::slice::.*copy_from_slice",
    r"(?:.*!)?System\.(?:Buffer\.(?:_?Memmove|__Memmove|BulkMoveWithWriteBarrier|BlockCopy|MemoryCopy)|SpanHelpers\.(?:Fill|ClearWith\w+|Memmove))",
];

const MEMCPY_C: &[&str] = &[
    r"_*(?:libc_|GI_+)*(?:memcpy|memmove|memset|mempcpy|memccpy|bcopy|bzero|platform_mem(?:move|set))(?:_\w+)?(?:@|$|\$)",
    r"(?:copy_page|copy_user\w*|_?copy_(?:to|from)_(?:user|iter)\w*|clear_page\w*|rep_movs\w*)\b",
];

/// JSON is read or written.
const JSON_ANY: &[&str] = &[
    r"encoding/json(?:[./]|/v2\.|/jsontext\.)|github\.com/(?:json-iterator/go|goccy/go-json|bytedance/sonic|mailru/easyjson|valyala/fastjson|tidwall/(?:gjson|sjson)|segmentio/encoding/json|buger/jsonparser)",
    r"com[./](?:fasterxml[./]jackson|google[./]gson|alibaba[./]fastjson2?|squareup[./]moshi)[./]|org[./]json[./]|kotlinx[./]serialization[./]json[./]|(?:javax|jakarta)[./]json[./]|com[./]dslplatform[./]json[./]",
    r"<?(?:&mut )?(?:serde_json|simd_json|sonic_rs|miniserde)::",
    r"v8::internal::Json\w+|Builtins_Json\w+|JSON\.(?:parse|stringify)",
    r"(?:[\w.]+!)?(?:System\.Text\.Json|Newtonsoft\.Json)\b",
    r"(?:nlohmann|rapidjson|simdjson)::|JSON(?:::|\.)(?:generate|parse|load|dump|Ext)",
    r"<built-in method (?:orjson|ujson|_json)\b",
];

const JSON_C: &[&str] = &[
    r"(?:scanstring_unicode|scan_once_unicode|_parse_(?:object|array)_unicode|encoder_listencode_\w+|py_encode_basestring\w*|ascii_escape_unicode|json_(?:encode|decode|parse)\w*|cJSON_\w+|json_object_to\w+)$",
];

const JSON_FILES: &[&str] = &[r"(?:.*/)?json/(?:__init__|encoder|decoder|scanner)\.py$"];

/// Regular expressions are compiled or matched.
const REGEX_ANY: &[&str] = &[
    r"regexp(?:/syntax)?\.|github\.com/dlclark/regexp2\.",
    r"java[./]util[./]regex[./]",
    r"<?(?:&)?(?:regex|regex_automata|regex_syntax|fancy_regex|aho_corasick)::",
    r"v8::internal::(?:RegExp|Irregexp)|Builtins_RegExp|RegExp: ",
    r"(?:[\w.]+!)?System\.Text\.RegularExpressions\.",
    r"std::__detail::_(?:Executor|Compiler|NFA|Scanner|StateSeq|BracketMatcher)|std::(?:__cxx11::)?(?:basic_)?regex|boost::re_detail|re2::",
    r"Regexp#|<built-in method _sre\.|<method '(?:match|search|sub|subn|findall|finditer|fullmatch|split|scanner)' of 're\.",
];

const REGEX_C: &[&str] = &[
    r"(?:pcre2?_\w+|onig_\w+|match_at|sre_\w+|_?sre_(?:search|match)|pattern_(?:subx|search|match|findall|finditer|fullmatch|split)|_?_?re_(?:search|match|compile)\w*|regexec|regcomp|_?_?regexec)$",
];

const REGEX_FILES: &[&str] = &[r"(?:.*/)?(?:re|re/\w+|sre_\w+)\.py$"];

/// Data are encrypted, decrypted, signed or hashed.
const CRYPTO_ANY: &[&str] = &[
    r"crypto/|golang\.org/x/crypto/|vendor/golang\.org/x/crypto/",
    r"(?:java[./]security|javax[./]crypto|sun[./]security|com[./]sun[./]crypto|org[./]bouncycastle|javax[./]net[./]ssl)[./]",
    r"<?(?:ring|rustls|sha1|sha2|sha3|aes|aes_gcm|blake2|blake3|chacha20\w*|curve25519_dalek|ed25519\w*|md5|hmac|openssl|argon2|bcrypt|digest)::",
    r"(?:[\w.]+!)?System\.Security\.Cryptography\b",
    r"<built-in method _hashlib\b|<method '(?:update|digest|hexdigest)' of '_?(?:hashlib|sha|md5|blake)",
];

const CRYPTO_C: &[&str] = &[
    r"(?:_?(?:EVP|AES|RSA|EC|ECDSA|BN|CRYPTO|SSL|SHA1|SHA224|SHA256|SHA384|SHA512|MD5|HMAC|ossl|aesni|ecp_nistz256|bn_mul|bn_sqr|gcm|ChaCha20|poly1305|tls1|tls13|ssl3|blake2b|blake2s|keccak)_\w+|(?:sha1|sha256|sha512|md5)_(?:block|transform|update|process)\w*)$",
];

const CRYPTO_FILES: &[&str] = &[r"(?:.*/)?(?:hashlib|hmac|secrets)\.py$", r"node:(?:internal/)?crypto"];

/// Data are compressed or decompressed.
const COMPRESS_ANY: &[&str] = &[
    r"compress/|github\.com/(?:klauspost/compress|golang/snappy|pierrec/lz4|andybalholm/brotli|DataDog/zstd|ulikunitz/xz)",
    r"java[./]util[./]zip[./](?:Deflat|Inflat|GZIP|Zip|CRC32|Adler32)|org[./]xerial[./]snappy[./]|net[./]jpountz[./]|com[./]github[./]luben[./]zstd[./]",
    r"<?(?:flate2|miniz_oxide|zlib_rs|zstd|zstd_safe|ruzstd|lz4|lz4_flex|snap|brotli|libz_sys|bzip2|xz2|lzma_rust2)::",
    r"(?:[\w.]+!)?System\.IO\.Compression\b",
    r"<built-in method (?:zlib|_bz2|_lzma)\b|<method '(?:compress|decompress|flush)' of '(?:zlib|_bz2|_lzma)",
];

const COMPRESS_C: &[&str] = &[
    r"_*(?:deflate\w*|inflate\w*|longest_match\w*|compress_block|build_tree|fill_window|adler32\w*|crc32\w*|ZSTD_\w+|HUF_\w+|FSE_\w+|LZ4_\w+|BZ2_\w+|lzma_\w+|Brotli\w+|snappy_\w+|zlib_\w+)(?:@|$)",
];

const COMPRESS_FILES: &[&str] = &[r"(?:.*/)?(?:gzip|bz2|lzma|zipfile|zipfile/\w+)\.py$", r"node:zlib"];

/// Locks are taken, waited for or released.
const LOCK_ANY: &[&str] = &[
    r"(?:internal/)?sync\.\(\*(?:Mutex|RWMutex)\)\.|runtime\.(?:lock2?|unlock2?|lockWithRank\w*|unlockWithRank|semacquire\w*|semrelease\w*|sync_runtime_\w+|internal_sync_\w+|futex\w*|\(\*mutex\w*\)\..*)$",
    r"ObjectMonitor::|ObjectSynchronizer::|SharedRuntime::(?:complete_)?monitor\w*|java[./]util[./]concurrent[./]locks[./]",
    r"<?std::(?:sync::(?:poison::|nonpoison::)?(?:mutex|rwlock|condvar)|sys::.*(?:[Mm]utex|futex|[Cc]ondvar|[Rr]w_?[Ll]ock))|<?(?:parking_lot|parking_lot_core|lock_api|spin)::",
    r"(?:.*!)?System\.Threading\.(?:Monitor|Lock|SpinLock|SpinWait|ReaderWriterLock\w*|SemaphoreSlim)\b|(?:.*!)?(?:AwareLock|JIT_Mon\w+|SyncBlock)\b",
    r"<method '(?:acquire|release|__enter__|__exit__)' of '_thread\.R?[Ll]ock'|(?:Thread::)?(?:Mutex|Monitor)#",
    r"std::(?:__1::)?(?:mutex|recursive_mutex|shared_mutex|lock_guard|unique_lock|shared_lock|scoped_lock)\b",
];

const LOCK_C: &[&str] = &[
    r"_*(?:GI_+)?pthread_(?:mutex|rwlock|spin)_\w+|_*lll_(?:lock|unlock|mutex)\w*|_*futex\w*|do_futex\w*|__x64_sys_futex|_?native_queued_spin_lock_slowpath\w*|queued_(?:read|write)_lock_slowpath|_*raw_(?:spin|read|write)_\w*lock\w*|mutex_(?:spin_on_owner|lock\w*|unlock\w*)|rwsem_\w+|osq_lock|_?os_unfair_lock\w*|psynch_mutex\w*|__psynch_mutex\w*",
    r"take_gil|drop_gil|PyThread_acquire_lock\w*|PyEval_(?:Acquire|Restore)\w*|acquire_timed|_PyMutex_\w+",
];

/// The kernel is called.
const SYSCALL_ANY: &[&str] = &[
    r"(?:syscall|internal/runtime/syscall|runtime/internal/syscall|golang\.org/x/sys/unix)[./]|internal/runtime/syscall/\w+\.",
    r"runtime\.(?:write1?|read|epollwait|epollctl|madvise|sysMmap|mmap|munmap|tgkill|sigreturn\w*|syscall\w*)$",
    r"java[./]io[./](?:FileInputStream|FileOutputStream|RandomAccessFile)\.(?:read|write|open)(?:Bytes|0)?(?:\(|$)|sun[./]nio[./](?:ch[./](?:\w*Dispatcher\w*|Net|IOUtil)|fs[./]UnixNativeDispatcher)\.|java[./]net[./]Socket(?:In|Out)putStream\.socket(?:Read|Write)0?|java[./]io[./]UnixFileSystem\.",
    r"<?std::sys::.*(?:fs|fd|net|pipe|stdio)::",
    r"<built-in method posix\.|<method '(?:recv|recv_into|recvfrom|send|sendall|sendto)' of '_socket\.|(?:[\w.]+!)?Interop[.+]Sys\b",
];

const SYSCALL_C: &[&str] = &[
    r"entry_SYSCALL_64\w*|do_syscall_64|x64_sys_call|el0_svc\w*|invoke_syscall|__(?:x64|arm64|ia32|se)_sys_\w+|ksys_\w+|system_call_fastpath|sys_\w+",
    r"(?:_+(?:libc_|GI_+)*|GI_+)(?:read|write|pread64|pwrite64|readv|writev|send|sendto|sendmsg|recv|recvfrom|recvmsg|open64|openat64|open64_nocancel|close|close_nocancel|read_nocancel|write_nocancel|fstat\w*|mmap64?|munmap|madvise|mprotect|ioctl|fsync|getdents64|epoll_ctl|connect)(?:@|$)",
];

/// Messages are logged.
const LOG_ANY: &[&str] = &[
    r"log(?:/slog)?(?:/internal)?\.|log/slog/internal|go\.uber\.org/zap|github\.com/(?:sirupsen/logrus|rs/zerolog|go-kit/(?:kit/)?log|golang/glog|hashicorp/go-hclog|charmbracelet/log)|k8s\.io/klog",
    r"org[./](?:slf4j|apache[./](?:log4j|logging|commons[./]logging)|jboss[./]logging)[./]|ch[./]qos[./]logback[./]|java[./]util[./]logging[./]",
    r"<?(?:env_logger|log4rs|fern|simplelog|flexi_logger|log::__private_api|tracing_subscriber::fmt)::",
    r"(?:[\w.]+!)?(?:Microsoft\.Extensions\.Logging|Serilog|NLog)\.|spdlog::|google::LogMessage|boost::log::|Logger#",
];

const LOG_FILES: &[&str] = &[
    r"(?:.*/)?(?:logging/(?:__init__|handlers|config)|loguru/\w+|structlog/\w+)\.py$",
    r"(?:.*/)?node_modules/(?:winston|pino|bunyan|log4js|loglevel|debug)/",
    r"node:internal/console",
];

/// Values become text.
const FORMAT_ANY: &[&str] = &[
    r"fmt\.|strconv\.(?:Format|Append|Quote|Itoa|\(\*decimal|fmt|format|ryu|bigFtoa)\w*",
    r"java[./]util[./]Formatter|java[./]lang[./]String\.format\b|java[./]text[./]|java[./]time[./]format[./]|(?:jdk|sun)[./]\w*[./]?math[./](?:DoubleToDecimal|FloatingDecimal)",
    r"<?(?:core|std)::fmt::|alloc::fmt::format\w*|<.* as core::fmt::(?:Display|Debug|Write|LowerHex|UpperHex)>::",
    r"(?:[\w.]+!)?System\.(?:String\.Format|Number\.|Text\.ValueStringBuilder|DateTimeFormat)",
    r"fmt::v\d+::|std::(?:__cxx11::)?basic_(?:o?stringstream|ostringstream)|std::(?:basic_)?ostream\b|std::num_put",
];

const FORMAT_C: &[&str] = &[
    r"_*(?:libc_|GI_+|IO_)*(?:v?f?printf|v?sn?printf|v?asprintf|v?dprintf)(?:_internal|_chk|_positional)?(?:@|$)|_*printf_(?:fp|buffer)\w*|_itoa\w*|hack_digit|__mpn_\w+",
];

/// Something is made that is meant to be used many times: a compiled regular expression, a parser, an encoder, a formatter.
/// Each costs little, so if it shows in a profile at all, it is made again and again.
const SETUP_ANY: &[&str] = &[
    r"regexp\.(?:Compile|MustCompile|compile|MatchString|Match|CompilePOSIX)\b|regexp/syntax\.(?:Parse|Compile)$|(?:text|html)/template\.\(\*Template\)\.Parse\b|text/template/parse\.Parse$",
    r"compress/(?:flate|gzip|zlib)\.New(?:Writer|Reader)\w*|compress/flate\.(?:newFastEnc\w*|newDeflate\w*|newHuffmanBitWriter|newHuffmanEncoder|\(\*compressor\)\.init|NewWriter\w*)$|github\.com/klauspost/compress/(?:zstd|flate|gzip)\.New(?:Writer|Reader)\w*",
    r"java[./]util[./]regex[./]Pattern\.(?:compile|<init>|matches)(?:\(|$)|java[./]lang[./]String\.(?:replaceAll|matches)(?:\(|$)|java[./]text[./](?:SimpleDateFormat|DecimalFormat|MessageFormat)\.<init>|java[./]time[./]format[./]DateTimeFormatter\.ofPattern|java[./]util[./]zip[./](?:Deflater|Inflater)\.(?:<init>|init)\b|javax[./]xml[./](?:parsers|transform|xpath|stream)[./]\w+Factory\.newInstance|com[./]fasterxml[./]jackson[./]databind[./]ObjectMapper\.<init>|com[./]google[./]gson[./]Gson\.<init>|javax[./]crypto[./]Cipher\.getInstance|java[./]security[./](?:MessageDigest|KeyFactory|Signature)\.getInstance",
    r"<?regex::(?:regex::string::|regex::bytes::|builders::\w*|re_unicode::|)(?:Regex|RegexBuilder|RegexSet)::(?:new|build)\b|regex::builders::|regex_automata::meta::(?:regex::)?Builder::build\w*|regex_syntax::parser::|<?flate2::mem::Compress::new",
    r"v8::internal::RegExp(?:Impl|Compiler|Parser)?::(?:Compile\w*|ParseRegExp\w*)|Builtins_RegExpConstructor",
    r"(?:[\w.]+!)?System\.Text\.RegularExpressions\.(?:Regex\.\.ctor|Regex\.Construct|RegexParser|RegexCompiler|RegexInterpreterCode|RegexWriter)\b",
    r"std::__detail::_(?:Compiler|NFA|Scanner)\b|std::(?:__cxx11::)?basic_regex<.*>::(?:basic_regex|_M_compile|assign)|re2::RE2::(?:RE2|Init)|boost::re_detail.*::(?:basic_regex_parser|basic_regex_creator)",
];

const SETUP_C: &[&str] = &[
    r"(?:pcre2?_(?:compile|study|jit_compile)\w*|regcomp|re_compile_internal|onig_new\w*|deflateInit\w*|inflateInit\w*|ZSTD_create\w+|EVP_CIPHER_fetch|EVP_MD_fetch|EVP_CIPHER_CTX_new)(?:@|$)",
];

const SETUP_FILES: &[&str] =
    &[r"(?:.*/)?(?:sre_compile|sre_parse|re/_compiler|re/_parser)\.py$", r"(?:.*/)?string/template\.py$"];

#[cfg(test)]
mod tests {
    use super::super::{contains, named};

    #[track_caller]
    fn check(set: &str, functions: &[&str], others: &[&str]) {
        for function in functions {
            assert!(contains(set, function, ""), "{set} lacks {function}");
        }
        for function in others {
            assert!(!contains(set, function, ""), "{set} has {function}");
        }
    }

    #[test]
    fn all_lists_compile() {
        for set in super::WORK {
            assert!(named(set.name).is_some());
            for patterns in [set.functions, set.c_functions, set.files].concat() {
                // An empty list has no regular expression, and any other must have one.
                let is_none = patterns.regex.is_none();
                assert!(
                    !is_none || set.name == "@log" || !std::ptr::eq(patterns, set.functions[0]),
                    "{}",
                    set.name
                );
            }
            assert!(set.functions[0].regex.is_some(), "{}", set.name);
        }
        let with_c = super::WORK.iter().filter(|set| set.c_functions[0].regex.is_some()).count();
        let with_files = super::WORK.iter().filter(|set| set.files[0].regex.is_some()).count();
        assert_eq!((with_c, with_files), (10, 6));
    }

    #[test]
    fn memory() {
        check(
            "@alloc",
            &[
                "runtime.mallocgc",
                "runtime.mallocgcSmallScanNoHeaderSC3",
                "runtime.(*mcache).nextFree",
                "malloc",
                "__libc_malloc",
                "libc.so.6.malloc",
                "_int_free",
                "operator new(unsigned long)",
                "__rust_alloc",
                "alloc::raw_vec::finish_grow",
                "PyObject_Malloc",
                "MemAllocator::allocate() const",
            ],
            &[
                "main.malloc",
                "runtime.gcDrain",
                "allocate",
                "freeze",
                "alloc::vec::Vec<T>::push",
                "runtime.memmove",
            ],
        );
        check(
            "@memcpy",
            &["runtime.memmove", "__memmove_avx_unaligned_erms", "memcpy@plt", "java/util/Arrays.copyOf"],
            &["memcpy_s_own.c", "runtime.mallocgc", "copy_rows"],
        );
    }

    #[test]
    fn encoding() {
        check(
            "@json",
            &[
                "encoding/json.Marshal",
                "com/fasterxml/jackson/core/JsonParser.nextToken",
                "<serde_json::ser::Serializer<W> as serde::Serializer>::serialize_str",
                "System.Text.Json!System.Text.Json.JsonSerializer.Serialize",
                "Builtins_JsonStringify",
            ],
            &["main.jsonOf", "encoding/jsonx.Marshal", "org/jsonld/Parser.parse"],
        );
        check(
            "@regex",
            &["regexp.(*Regexp).doExecute", "java/util/regex/Pattern$CharProperty.match", "RegExp: a+b"],
            &["main.regexp", "regexpx.Find"],
        );
        check(
            "@compress",
            &["compress/flate.(*compressor).deflate", "deflate_slow", "miniz_oxide::deflate::core::compress"],
            &["main.compress", "deflateRow.x"],
        );
        check(
            "@crypto",
            &[
                "crypto/sha256.block",
                "EVP_DigestUpdate",
                "javax/crypto/Cipher.doFinal",
                "sha2::sha256::compress256",
            ],
            &["main.crypto", "shared"],
        );
        check(
            "@log",
            &["log.Printf", "log/slog.(*Logger).log", "org/slf4j/Logger.info"],
            &["logic.Run", "log10"],
        );
        check(
            "@format",
            &[
                "fmt.Sprintf",
                "core::fmt::write",
                "java/util/Formatter.format",
                "__vfprintf_internal",
                "snprintf",
            ],
            &["fmtx.Run", "format_row"],
        );
    }

    #[test]
    fn locks_and_the_kernel() {
        check(
            "@lock",
            &[
                "sync.(*Mutex).Lock",
                "internal/sync.(*Mutex).lockSlow",
                "pthread_mutex_lock",
                "native_queued_spin_lock_slowpath_[k]",
                "ObjectMonitor::enter(JavaThread*)",
                "parking_lot::raw_mutex::RawMutex::lock_slow",
                "take_gil",
            ],
            // These run the program's own code.
            &["sync.(*WaitGroup).Go.func1", "sync.(*Once).doSlow", "main.lock", "locked"],
        );
        check(
            "@syscall",
            &["syscall.Syscall6", "entry_SYSCALL_64_after_hwframe", "__GI___libc_write", "ksys_read_[k]"],
            &["main.read", "read", "write"],
        );
    }

    #[test]
    fn things_made_again_and_again() {
        check(
            "@setup",
            &[
                "regexp.MustCompile",
                "regexp.compile",
                "compress/flate.NewWriter",
                "java/util/regex/Pattern.compile",
                "java/text/SimpleDateFormat.<init>",
                "regex::regex::string::Regex::new",
                "regcomp",
            ],
            &[
                "regexp.(*Regexp).FindString",
                "compress/flate.(*compressor).deflate",
                "java/util/regex/Matcher.find",
            ],
        );
        assert!(contains("@setup", "compile", "/usr/lib/python3.11/re/_compiler.py"));
        assert!(contains("@json", "iterencode", "/usr/lib/python3.11/json/encoder.py"));
        assert!(!contains("@json", "iterencode", "/srv/app/encoder.py"));
        assert!(!contains("@log", "<module>", "/usr/lib/python3.11/logging/__init__.py"));
    }
}
