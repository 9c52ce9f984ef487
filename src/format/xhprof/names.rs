//! The names in the data of XHProf.

use crate::profile::{FunctionId, ProfileBuilder};

pub(super) const NAME: &str = "xhprof";

/// What stands between a caller and its callee.
pub(super) const CALLS: &str = "==>";

/// The function of a level, and whether it is not running already: `parse@1` is `parse`, for the second time.
pub(super) fn function(level: &str, builder: &mut ProfileBuilder) -> (FunctionId, bool) {
    let deeper = level.rsplit_once('@').filter(|(_, depth)| depth.parse::<u32>().is_ok());
    let function = builder.named_function(deeper.map_or(level, |(name, _)| name), "");
    (function, deeper.is_none())
}
