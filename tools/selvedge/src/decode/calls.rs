//! Which buffers streams call, and what becomes of each call.

use super::report::{Call, Followed};
use super::{Request, memory};
use std::collections::HashMap;

/// How far calls are followed. Nothing real comes near; streams made to harm do.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Calls in calls.
    pub depth: usize,
    /// Indirect buffers.
    pub buffers: usize,
    /// Dwords of all indirect buffers.
    pub dwords: usize,
}

impl Limits {
    /// Generous ones.
    pub const DEFAULT: Limits = Limits { depth: 16, buffers: 4096, dwords: 1 << 20 };
}

/// Address, length and engine of a buffer.
type Key = (u64, usize, &'static str);

const fn key(call: &Call) -> Key {
    (call.address.0, call.dwords, call.engine)
}

/// The streams that are decoded and who calls whom.
#[derive(Debug)]
pub(super) struct Calls {
    /// Streams before the first buffer: nothing calls these.
    roots: usize,
    buffers: HashMap<Key, usize>,
    /// Dwords of all buffers.
    dwords: usize,
    /// The streams that each stream calls; of the roots none, since no cycle goes through them.
    called: Vec<Vec<usize>>,
    /// Equal for streams that lead to each other, once all calls are known.
    group: Vec<usize>,
}

impl Calls {
    pub(super) fn new(roots: usize) -> Calls {
        Calls {
            roots,
            buffers: HashMap::new(),
            dwords: 0,
            called: vec![Vec::new(); roots],
            group: Vec::new(),
        }
    }

    /// What becomes of a call by the stream `from`, which is `depth` calls deep. A buffer that is not known yet, is in
    /// memory and within the limits is decoded as the next stream.
    pub(super) fn followed(
        &self,
        request: &Request,
        from: usize,
        depth: usize,
        call: &Call,
    ) -> Followed {
        if call.dwords == 0 {
            return Followed::Empty;
        }
        if let Some(&stream) = self.buffers.get(&key(call)) {
            let group = |stream| self.group.get(stream);
            return match group(from) {
                Some(from) if group(stream) == Some(from) => Followed::Cycle { stream },
                _ => Followed::Decoded { stream },
            };
        }
        let limits = request.limits;
        match memory::buffer(request, call) {
            Err(known_dwords) => Followed::Missing { known_dwords },
            Ok(_) if depth >= limits.depth => Followed::Limit { limit: "depth" },
            Ok(_) if self.buffers.len() >= limits.buffers => Followed::Limit { limit: "buffers" },
            Ok(words) if self.dwords + words.len() > limits.dwords => {
                Followed::Limit { limit: "dwords" }
            }
            Ok(_) => Followed::Decoded { stream: self.called.len() },
        }
    }

    /// Notes a call; true when its buffer is a new stream, the next.
    pub(super) fn note(
        &mut self,
        request: &Request,
        from: usize,
        depth: usize,
        call: &Call,
    ) -> bool {
        let Followed::Decoded { stream } = self.followed(request, from, depth, call) else {
            return false;
        };
        if from >= self.roots {
            self.called[from].push(stream);
        }
        let is_new = stream == self.called.len();
        if is_new {
            self.buffers.insert(key(call), stream);
            self.dwords += call.dwords;
            self.called.push(Vec::new());
        }
        is_new
    }

    /// To be told when all calls are noted: finds the cycles.
    pub(super) fn complete(&mut self) {
        self.group = groups(&self.called);
    }
}

/// A number for each stream, the same for two of them when each leads to the other.
fn groups(called: &[Vec<usize>]) -> Vec<usize> {
    // The strongly connected components as Kosaraju finds them. First all streams, each behind those that it leads to.
    let mut order = Vec::new();
    let mut seen = vec![false; called.len()];
    for root in 0..called.len() {
        let mut path = Vec::new();
        if !std::mem::replace(&mut seen[root], true) {
            path.push((root, called[root].iter()));
        }
        while let Some((at, rest)) = path.last_mut() {
            match rest.next() {
                Some(&next) if std::mem::replace(&mut seen[next], true) => {}
                Some(&next) => path.push((next, called[next].iter())),
                None => {
                    order.push(*at);
                    path.pop();
                }
            }
        }
    }
    // Then, from the last of them on, what leads to each and has no group yet.
    let mut callers = vec![Vec::new(); called.len()];
    for (from, to) in
        called.iter().enumerate().flat_map(|(from, to)| to.iter().map(move |to| (from, *to)))
    {
        callers[to].push(from);
    }
    let mut group = vec![None; called.len()];
    for &root in order.iter().rev() {
        let mut left = vec![root];
        while let Some(at) = left.pop() {
            if group[at].is_none() {
                group[at] = Some(root);
                left.extend(&callers[at]);
            }
        }
    }
    // Each is in the order, so each has a group.
    group.into_iter().enumerate().map(|(at, group)| group.unwrap_or(at)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Whether a stream leads to another, by trying.
    fn leads(called: &[Vec<usize>], from: usize, to: usize) -> bool {
        let mut seen = vec![false; called.len()];
        let mut left = called[from].clone();
        while let Some(at) = left.pop() {
            if !std::mem::replace(&mut seen[at], true) {
                left.extend(&called[at]);
            }
        }
        from == to || seen[to]
    }

    proptest! {
        #[test]
        fn groups_are_what_leads_to_each_other(
            called in prop::collection::vec(prop::collection::vec(0usize..8, 0..4), 8),
        ) {
            let group = groups(&called);
            for from in 0..8 {
                for to in 0..8 {
                    let both = leads(&called, from, to) && leads(&called, to, from);
                    prop_assert_eq!(group[from] == group[to], both, "{} {}", from, to);
                }
            }
        }
    }
}
