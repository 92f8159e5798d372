//! How honest the machine is, as the environment asks for it.

use crate::memory::Caches;
use crate::shader::variable;
use std::str::FromStr;
use std::sync::OnceLock;

/// The variable that names what caches do: `stale`, or `transparent`, the default.
pub(crate) const CACHES_VARIABLE: &str = "SELVEDGE_SIM_CACHES";

/// The variable that names the order of work: `adversarial`, a number to draw it with, or `in-order`, the default.
pub(crate) const ORDER_VARIABLE: &str = "SELVEDGE_SIM_ORDER";

/// In what order is done what hardware may do in any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ordering {
    /// In that of the packets: each is complete before the next one starts.
    #[default]
    InOrder,
    /// In one drawn with this number.
    Seeded(u64),
    /// As late as possible, the last first.
    Adversarial,
}

impl FromStr for Ordering {
    type Err = String;

    fn from_str(text: &str) -> Result<Ordering, String> {
        match text {
            "in-order" => Ok(Ordering::InOrder),
            "adversarial" => Ok(Ordering::Adversarial),
            _ => text.parse().map(Ordering::Seeded).map_err(|_| {
                format!("no order is called {text:?}; there are in-order, adversarial and numbers")
            }),
        }
    }
}

/// What [`CACHES_VARIABLE`] asks for, read once. What cannot be understood is told on standard error and left out.
pub(crate) fn caches() -> Caches {
    static ASKED: OnceLock<Caches> = OnceLock::new();
    *ASKED.get_or_init(|| variable(CACHES_VARIABLE, str::parse).unwrap_or_default())
}

/// What [`ORDER_VARIABLE`] asks for, in the same way.
pub(crate) fn ordering() -> Ordering {
    static ASKED: OnceLock<Ordering> = OnceLock::new();
    *ASKED.get_or_init(|| variable(ORDER_VARIABLE, str::parse).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_have_names() {
        assert_eq!("stale".parse(), Ok(Caches::Stale));
        assert_eq!("transparent".parse(), Ok(Caches::Transparent));
        assert!("".parse::<Caches>().is_err());
        assert_eq!("adversarial".parse(), Ok(Ordering::Adversarial));
        assert_eq!("in-order".parse(), Ok(Ordering::InOrder));
        assert_eq!("7".parse(), Ok(Ordering::Seeded(7)));
        let error = "random".parse::<Ordering>().unwrap_err();
        assert_eq!(
            error,
            "no order is called \"random\"; there are in-order, adversarial and numbers"
        );
    }
}
