//! One value of a label costs far more than the others.

use crate::findings::label_totals::{LabelTotals, RemarkRule};
use crate::report::Sentence;
use crate::unit;

/// The rule.
pub(super) static RULE: RemarkRule = RemarkRule {
    name: "label",
    finds: "One value of a label has most of the cost, and far more than the next.",
    find,
};

fn find(label: &LabelTotals<'_>) -> Option<(Sentence, i64)> {
    let [(value, most), (next, second), ..] = label.values[..] else { return None };
    // Half of what has the label, a tenth of everything, and three times the next.
    let [wide, labelled, whole, next_most] = [most, label.labelled, label.whole, second].map(i128::from);
    let is_outlier = wide * 2 >= labelled && wide * 10 >= whole && wide >= next_most * 3;
    let share = |value| unit::share(value, label.whole);
    (is_outlier && !label.is_thread()).then(|| {
        let says = format!(
            "{} of everything has the label {}={value}; next is {next} with {}",
            share(most),
            label.key,
            share(second)
        );
        (Sentence::new(says), most)
    })
}

#[cfg(test)]
mod tests {
    use crate::findings::remarks;
    use crate::profile::from_notation;

    #[test]
    fn one_endpoint_has_most() {
        let says = |text: &str| -> Vec<String> {
            let remarks = remarks(&from_notation(text), 0, true);
            remarks.into_iter().map(|(rule, says, value)| format!("{} {value}: {says}", rule.name)).collect()
        };
        assert_eq!(
            says("a 62 {endpoint=/orders}\na 12 {endpoint=/users}\nb 26"),
            ["label 62: 62.0% of everything has the label endpoint=/orders; next is /users with 12.0%"]
        );
        assert!(says("a 50 {endpoint=/orders}\na 49 {endpoint=/users}").is_empty());
        assert_eq!(
            says("a 98 {thread=main}\na 2 {thread=io}"),
            ["one-thread 98: one of 2 threads, main, has 98.0%: more processors do not help"]
        );
        // Threads of one name in different processes, and in one.
        assert!(
            says("a 60 {thread=main process=x}\na 38 {thread=main process=y}\na 2 {thread=io}").is_empty()
        );
        assert!(says("a 60 {thread=main tid=1}\na 38 {thread=main tid=2}\na 2 {thread=io}").is_empty());
        assert_eq!(
            says("a 96 {thread=main tid=1}\na 2 {thread=main tid=2}\na 2 {thread=io}"),
            ["one-thread 96: one of 3 threads, main, has 96.0%: more processors do not help"]
        );
    }
}
