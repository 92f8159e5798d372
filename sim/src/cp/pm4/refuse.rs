//! What is known of packets and not modelled.

use ::pm4::Generation;
use ::pm4::layout::Layout;

/// Fields that have to be clear, by packet where others have a field of that name.
///
/// - The predicate: compute queues have none (PAL, gfx9CmdUtil.cpp, `BuildDispatchDirect`: "Must be PredDisable on the
///   Compute Engine"; the header of `*_mec_pm4_packets.h` has no such bit).
/// - What tells the scheduler something.
/// - Unshared lines of L2, lines that are lost rather than written back, ranges of physical addresses.
/// - Registers of virtual functions and of other dies.
const CLEAR: [(&str, Option<&str>); 12] = [
    ("predicate", None),
    ("mes_intr_pipe", None),
    ("mes_action", None),
    ("mes_action_id", None),
    ("gl2_us", None),
    ("gl2_discard", None),
    ("range_is_pa", None),
    ("aid_id", None),
    ("mode", Some("COPY_DATA")),
    ("mode", Some("COPY_DATA.register")),
    ("mode", Some("WRITE_DATA")),
    ("mode", Some("WRITE_DATA.register")),
];

/// The field of a packet that is set and not modelled.
pub(super) fn unknown(
    layout: &Layout,
    generation: Generation,
    words: &[u32],
) -> Option<&'static str> {
    let is_named = |name: &str| {
        CLEAR.iter().any(|&(field, of)| field == name && of.is_none_or(|of| of == layout.name))
    };
    let is_set = |value: Option<u64>| value.is_some_and(|value| value != 0);
    let mut fields = layout.fields.iter();
    let field =
        fields.find(|field| is_named(field.name) && is_set(field.read(words, generation.set())));
    field.map(|field| field.name)
}
