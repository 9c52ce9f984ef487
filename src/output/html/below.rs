//! What names cost besides their self.

use crate::parallel;
use crate::report::Page;

/// For each column of values, those of the old side last, the total of each name without its self. The page would take longer to add
/// up all nodes than for all else it shows first.
pub(super) fn below_names(page: &Page) -> Vec<Vec<i64>> {
    let columns: Vec<&Vec<i64>> = page.values.iter().chain(&page.old).collect();
    let parts = parallel::ranges(columns.len(), 1, |some| {
        columns[some].iter().map(|column| below(page, column)).collect::<Vec<_>>()
    });
    parts.into_iter().flatten().collect()
}

/// For each name, its total without its self, from one column of values.
fn below(page: &Page, values: &[i64]) -> Vec<i64> {
    let mut found = vec![0_i64; page.names.len()];
    // How many frames of the current stack have each name, and the sum of all stacks before each frame.
    let (mut open, mut path) = (vec![0_u32; page.names.len()], Vec::<(u32, i64)>::new());
    let close = |path: &mut Vec<(u32, i64)>, kept: usize, open: &mut [u32], found: &mut [i64], sum: i64| {
        for (place, before) in path.drain(kept..).rev() {
            let name = page.places[place as usize].name as usize;
            open[name] -= 1;
            // Recursion counts once.
            if open[name] == 0 {
                found[name] = found[name].wrapping_add(sum.wrapping_sub(before));
            }
        }
    };
    let (mut start, mut sum) = (0, 0_i64);
    for (&end, &value) in page.ends.iter().zip(values) {
        let stack = &page.frames[start..end as usize];
        start = end as usize;
        let common = path.iter().zip(stack).take_while(|((a, _), b)| a == *b).count();
        close(&mut path, common, &mut open, &mut found, sum);
        for &place in &stack[common..] {
            open[page.places[place as usize].name as usize] += 1;
            path.push((place, sum));
        }
        if let Some(&leaf) = stack.last() {
            let own = &mut found[page.places[leaf as usize].name as usize];
            *own = own.wrapping_sub(value);
        }
        sum = sum.wrapping_add(value);
    }
    close(&mut path, 0, &mut open, &mut found, sum);
    found
}
