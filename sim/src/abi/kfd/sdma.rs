//! Which SDMA queues of a GPU are free (kfd_device_queue_manager.c), and their doorbells.

use crate::board::Held;
use crate::profile::Board;

/// Of SDMA 6.0 and later a queue of each engine is kept for graphics and one for paging
/// (`kfd_device_info_set_sdma_info`, `num_reserved_sdma_queues_per_engine`).
const RESERVED: usize = 2;
/// The doorbell of an engine's first queue, and how far the next engine's is: `sDMA_ENGINE0`, `sDMA_ENGINE1` and on of
/// `AMDGPU_VEGA20_DOORBELL_ASSIGNMENT` and `AMDGPU_NAVI10_DOORBELL_ASSIGNMENT` (amdgpu_doorbell.h), which is for
/// gfx906, gfx908, gfx90a and from gfx10 on; gfx942's are the same (aqua_vanjaram.c,
/// `aqua_vanjaram_doorbell_index_init`).
const FIRST_DOORBELL: usize = 0x100;
const NEXT_ENGINE: usize = 10;
/// `KFD_QUEUE_DOORBELL_MIRROR_OFFSET`: from queue 2 × i to 2 × i + 1 of an engine.
const ODD_QUEUES: usize = 512;

/// Engines of one kind: those for all copies, or those for links.
#[derive(Debug)]
struct Kind {
    /// Number of the first.
    first: usize,
    count: usize,
    /// Whether a queue is free, by `sdma_id`: the queue's number in its engine times the engines, plus the engine
    /// (`sdma_bitmap`, `xgmi_sdma_bitmap`).
    free: Vec<bool>,
}

impl Kind {
    /// The first free queue, of any engine or of the one with this number.
    fn take(&mut self, engine: Option<usize>) -> Option<usize> {
        let count = self.count;
        let fits = |id: usize| engine.is_none_or(|engine| id % count + self.first == engine);
        let id = (0..self.free.len()).find(|&id| self.free[id] && fits(id))?;
        self.free[id] = false;
        Some(id)
    }
}

/// The SDMA queues of a GPU, which all processes share.
#[derive(Debug)]
pub(crate) struct Engines([Kind; 2]);

/// Which queue is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Any,
    /// One of an engine for links.
    Link,
    /// One of this engine.
    Engine(u32),
}

/// Where a queue is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    engine: usize,
    /// Among the engine's.
    queue: usize,
}

/// A queue that somebody has.
#[derive(Debug)]
pub(super) struct SdmaQueue {
    place: Place,
    _held: Held,
}

impl Engines {
    /// `init_sdma_bitmaps`
    pub(crate) fn of(board: &Board) -> Engines {
        let reserved = if board.sdma_version.0 >= 6 { RESERVED } else { 0 };
        let queues = board.sdma_queues_per_engine as usize + reserved;
        let (engines, links) = (board.sdma_engines as usize, board.sdma_link_engines as usize);
        let free = (0..queues * engines).map(|id| id >= reserved * engines).collect();
        Engines([
            Kind { first: 0, count: engines, free },
            Kind { first: engines, count: links, free: vec![true; queues * links] },
        ])
    }

    /// `allocate_sdma_queue`: the kind, and the queue's number there.
    pub(crate) fn take(&mut self, wanted: Wanted) -> Option<(usize, usize)> {
        let (kind, engine) = match wanted {
            Wanted::Any => (0, None),
            Wanted::Link => (1, None),
            Wanted::Engine(number) => {
                let number = number as usize;
                (usize::from(number >= self.0[0].count), Some(number))
            }
        };
        Some((kind, self.0[kind].take(engine)?))
    }

    /// A queue that was taken is free again.
    pub(crate) fn give_back(&mut self, kind: usize, id: usize) {
        self.0[kind].free[id] = true;
    }

    /// Where a queue is.
    pub(crate) fn place(&self, kind: usize, id: usize) -> Place {
        let engines = &self.0[kind];
        Place { engine: engines.first + id % engines.count, queue: id / engines.count }
    }
}

impl Place {
    /// As it crosses to another process.
    pub(crate) fn to_words(self) -> [u64; 2] {
        [self.engine as u64, self.queue as u64]
    }

    /// Back from there.
    pub(crate) fn from_words([engine, queue]: [u64; 2]) -> Place {
        Place { engine: engine as usize, queue: queue as usize }
    }

    /// Number of its doorbell among the process's (`allocate_doorbell`).
    fn doorbell(self) -> usize {
        FIRST_DOORBELL
            + NEXT_ENGINE * self.engine
            + ODD_QUEUES * (self.queue & 1)
            + (self.queue >> 1)
    }
}

impl SdmaQueue {
    pub(super) fn new(place: Place, held: Held) -> SdmaQueue {
        SdmaQueue { place, _held: held }
    }

    /// Number of its engine.
    pub(super) fn engine(&self) -> u32 {
        self.place.engine as u32
    }

    /// Number of its doorbell among the process's.
    pub(super) fn doorbell(&self) -> usize {
        self.place.doorbell()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile;

    /// Takes a queue: its engine, its number there, its doorbell.
    fn take(engines: &mut Engines, wanted: Wanted) -> Option<(usize, usize, usize)> {
        let (kind, id) = engines.take(wanted)?;
        let place = engines.place(kind, id);
        Some((place.engine, place.queue, place.doorbell()))
    }

    /// gfx1100: two engines of eight queues, of which two are kept.
    #[test]
    fn queues_go_around_the_engines() {
        let mut queues = Engines::of(&profile::gfx1100());
        let places: Vec<_> = std::iter::from_fn(|| take(&mut queues, Wanted::Any)).collect();
        assert_eq!(places[..4], [(0, 2, 0x101), (1, 2, 0x10b), (0, 3, 0x301), (1, 3, 0x30b)]);
        assert_eq!((places.len(), places[11]), (12, (1, 7, 0x30d)));
        assert!(queues.take(Wanted::Link).is_none(), "it has no engines for links");
    }

    /// gfx942: sixteen engines of eight queues, of which fourteen are for links.
    #[test]
    fn sixteen_engines() {
        let mut queues = Engines::of(&profile::gfx942());
        assert_eq!(take(&mut queues, Wanted::Engine(15)), Some((15, 0, 0x196)));
        assert!(queues.take(Wanted::Engine(16)).is_none());
        let links = std::iter::from_fn(|| queues.take(Wanted::Link)).count();
        let any = std::iter::from_fn(|| queues.take(Wanted::Any)).count();
        assert_eq!((links, any), (14 * 8 - 1, 2 * 8));
    }

    /// gfx90a: two engines of eight queues, and three for links.
    #[test]
    fn links_have_engines_of_their_own() {
        let mut queues = Engines::of(&profile::gfx90a());
        let (kind, any) = queues.take(Wanted::Any).unwrap();
        let place = queues.place(kind, any);
        assert_eq!((place.engine, place.queue, place.doorbell()), (0, 0, 0x100));
        assert_eq!(take(&mut queues, Wanted::Link), Some((2, 0, 0x114)));
        let named: Vec<_> = std::iter::from_fn(|| take(&mut queues, Wanted::Engine(3))).collect();
        assert_eq!(named.len(), 8);
        assert_eq!(named[..2], [(3, 0, 0x11e), (3, 1, 0x31e)]);
        assert!(queues.take(Wanted::Engine(5)).is_none());
        queues.give_back(kind, any);
        assert_eq!(take(&mut queues, Wanted::Engine(0)), Some((0, 0, 0x100)));
        let links: Vec<_> = std::iter::from_fn(|| take(&mut queues, Wanted::Link)).collect();
        assert_eq!(links.len(), 24 - 1 - 8);
    }
}
