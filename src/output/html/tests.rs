use super::*;
use crate::profile::from_notation;
use crate::view::{PageOptions, Scope, page};

fn written(title: &str) -> String {
    let options = PageOptions { scope: Scope::metric(0), title: title.into(), ..PageOptions::default() };
    let page = page(&from_notation("main;</script>;{style} 3\nmain 1"), &options);
    let mut out = Vec::new();
    html(&page, &HtmlOptions::default(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn no_name_appears_in_the_markup() {
    let page = written("</title><script>{data}");
    // The data, the times, the style, the script, and the script that unpacks them.
    assert_eq!(page.matches("<script").count(), 5);
    assert_eq!(page.matches("</script>").count(), 5);
    assert!(page.contains("<title>&lt;/title&gt;&lt;script&gt;{data}</title>"));
    let (_, data) = page.split_once("id=\"data\">").unwrap();
    let (data, _) = data.split_once('<').unwrap();
    assert!(!data.is_empty() && data.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b)));
}

#[test]
fn the_page_is_self_contained_and_deterministic() {
    // The name of the language of pictures is no address that anything is fetched from.
    let page = written("title").replace("http://www.w3.org/2000/svg", "");
    for outside in ["http:", "https:", " src=", "url(", "@import", "import("] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(page.contains("default-src 'none'"));
    assert_eq!(written("title"), written("title"));
}

#[test]
fn a_unit_of_another_kind_is_refused() {
    let options = PageOptions { scope: Scope::metric(0), ..PageOptions::default() };
    let page = page(&from_notation("main 3"), &options);
    let seconds = HtmlOptions { unit: Some(Unit::parse("s")), ..HtmlOptions::default() };
    assert!(html(&page, &seconds, &mut Vec::new()).is_err());
}
