use super::*;

const SHOP: &[u8] = include_bytes!("../../../fixtures/symbols/shop.pdb");

fn functions(pdb: &Pdb<&[u8]>, addresses: &[u32]) -> Vec<String> {
    let found = pdb.functions(&addresses.iter().copied().map(Some).collect::<Vec<_>>());
    let text = |place: &CodePlace| {
        let file = crate::name::base_name(&place.file);
        format!("{} {file}:{} from {}", place.function, place.line, place.start_line)
    };
    found.iter().map(|places| places.iter().map(text).collect()).collect()
}

/// `pdb-addr2line` 0.12.1 finds the same.
#[test]
fn functions_and_lines_are_those_of_the_source() {
    let pdb = Pdb::parse(SHOP).unwrap();
    assert_eq!(pdb.build_id().to_string(), "0363bccdeb2cbb154c4c44205044422e");
    assert_eq!(
        functions(&pdb, &[0x1000, 0x101B, 0x1020, 0x1029, 0x1040, 0x101C, 0x0, 0x2000, u32::MAX]),
        [
            "shop::shop::price shop.rs:20 from 20",
            "shop::shop::price shop.rs:25 from 20",
            "shop::shop::discount shop.rs:28 from 28",
            "shop::shop::discount shop.rs:29 from 28",
            "shop::entry shop.rs:38 from 38",
            "",
            "",
            "",
            "",
        ]
    );
}

/// A file that is cut or changed gives fewer names, and neither fails nor asks for memory.
#[test]
fn corrupt_files_are_harmless() {
    let addresses: Vec<Option<u32>> = (0x1000..0x1048).step_by(8).map(Some).collect();
    for end in (0..SHOP.len()).step_by(997) {
        if let Some(pdb) = Pdb::parse(&SHOP[..end]) {
            pdb.functions(&addresses);
        }
    }
    // Most of the file is empty.
    let used: Vec<usize> = (0..SHOP.len() - 4).filter(|&at| SHOP[at] != 0).collect();
    let mut random = 7_u64;
    for _ in 0..2000 {
        let mut bytes = SHOP.to_vec();
        for _ in 0..3 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = used[(random >> 20) as usize % used.len()] + (random >> 58) as usize % 4;
            bytes[at] = [0, 1, 0x7F, 0xFF][(random >> 60) as usize % 4];
        }
        if let Some(pdb) = Pdb::parse(&*bytes) {
            pdb.functions(&addresses);
        }
    }
}
