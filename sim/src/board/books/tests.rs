use super::*;
use crate::profile;
use std::fs::File;

const LIMIT: u64 = 1 << 20;
/// Two members.
const ONE: u64 = 1;
const TWO: u64 = 2;

fn books() -> Books {
    let gpu = Empty {
        id: 7,
        vram_limit: LIMIT,
        sdma: Engines::of(&profile::gfx1100()),
        folder: "/sys/gpu".to_owned(),
    };
    let memory = Arc::new(Memory::new(8 * LIMIT).unwrap());
    Books::new(memory, vec![gpu], 2 * LIMIT, true)
}

fn take(what: Use, bytes: u64) -> Request {
    Request::Take { what, gpu: 0, bytes, flags: 5, process: None }
}

/// Takes memory: the record and its place.
fn taken(books: &mut Books, member: u64, what: Use, bytes: u64) -> (u64, u64) {
    let [id, offset, ..] = books.handle(member, &take(what, bytes)).unwrap().words;
    (id, offset)
}

fn used(books: &mut Books) -> Vec<u64> {
    let bytes = books.handle(ONE, &Request::Usage).unwrap().bytes;
    bytes.as_chunks().0.iter().map(|&used| u64::from_le_bytes(used)).collect()
}

fn exported(books: &mut Books, id: u64) -> (File, Request) {
    let file = File::from(books.handle(ONE, &Request::Export { id }).unwrap().file.unwrap());
    let status = file.metadata().unwrap();
    (file, Request::Import { device: status.dev(), inode: status.ino() })
}

#[test]
fn limits_are_for_all_together() {
    let mut books = books();
    let (first, _) = taken(&mut books, ONE, Use::Vram, LIMIT / 2);
    taken(&mut books, TWO, Use::Vram, LIMIT / 2);
    let full = |books: &mut Books, what| books.handle(ONE, &take(what, 4096)).unwrap_err();
    assert_eq!(full(&mut books, Use::Vram), Errno::ENOMEM);
    // The process's own memory has no place in the file, but counts.
    let (_, offset) = taken(&mut books, ONE, Use::User, 2 * LIMIT);
    assert_eq!((offset, full(&mut books, Use::Gtt)), (0, Errno::ENOMEM));
    assert_eq!(used(&mut books), [2 * LIMIT, LIMIT]);
    // Who does not hold it cannot give it back.
    assert_eq!(books.handle(TWO, &Request::Release { id: first }).unwrap_err(), Errno::EINVAL);
    books.handle(ONE, &Request::Release { id: first }).unwrap();
    taken(&mut books, TWO, Use::Vram, 4096);
    books.leave(TWO);
    books.leave(ONE);
    assert_eq!((used(&mut books), books.records.len(), books.free.len()), (vec![0, 0], 0, 1));
}

#[test]
fn nonsense_is_refused() {
    let mut books = books();
    let gpu = |gpu| Request::Take { what: Use::Vram, gpu, bytes: 4096, flags: 0, process: None };
    for request in [
        gpu(1),
        take(Use::Gtt, 0),
        take(Use::Gtt, 4097),
        take(Use::Kernel, !0xfff),
        Request::Release { id: 9 },
        Request::Queue { gpu: 3, process: 0, queue: (0, 0, 0) },
        Request::Export { id: 1 },
        Request::Import { device: 1, inode: 1 },
        Request::Hang { gpu: 1 },
        Request::Reset { gpu: 1 },
        Request::SetMetadata { id: 1, flags: 0, bytes: vec![0; 300] },
        Request::SetTiling { id: 1, tiling: 0 },
        Request::Resets { gpu: 1 },
    ] {
        assert!(books.handle(ONE, &request).is_err(), "{request:?}");
    }
    assert_eq!(books.records.len(), 0);
}

#[test]
fn an_export_holds_its_buffer() {
    let mut books = books();
    let (id, offset) = taken(&mut books, ONE, Use::Vram, 8192);
    let set = Request::SetMetadata { id, flags: 3, bytes: vec![1, 2] };
    books.handle(ONE, &set).unwrap();
    books.handle(ONE, &Request::SetTiling { id, tiling: 77 }).unwrap();
    let (file, import) = exported(&mut books, id);
    assert_eq!(file.metadata().unwrap().len(), 8192);
    books.handle(ONE, &Request::Release { id }).unwrap();
    assert_eq!(used(&mut books), [0, 8192]);
    let words = books.handle(TWO, &import).unwrap().words;
    assert_eq!(words[..6], [id, Use::Vram as u64, 0, 8192, 5, offset]);
    drop(file);
    // By now the importer alone.
    assert_eq!(used(&mut books), [0, 8192]);
    let metadata = books.handle(TWO, &Request::Metadata { id }).unwrap();
    assert_eq!((metadata.words[..2].to_vec(), metadata.bytes), (vec![3, 77], vec![1, 2]));
    books.leave(TWO);
    assert_eq!(used(&mut books), [0, 0]);
    assert!(books.handle(TWO, &import).is_err());
    // One that only a file held makes room for another.
    let (id, _) = taken(&mut books, ONE, Use::Vram, LIMIT);
    let (file, _) = exported(&mut books, id);
    books.handle(ONE, &Request::Release { id }).unwrap();
    assert_eq!(books.handle(ONE, &take(Use::Vram, 4096)).unwrap_err(), Errno::ENOMEM);
    drop(file);
    taken(&mut books, ONE, Use::Vram, LIMIT);
    assert!(books.exports.is_empty());
}

#[test]
fn queues_of_all_processes_are_counted() {
    let mut books = books();
    let queue = |member| Request::Queue { gpu: 0, process: member as u32, queue: (0, 2, 4096) };
    for index in 0..MAX_QUEUES_PER_DEVICE {
        let member = if index % 2 == 0 { ONE } else { TWO };
        books.handle(member, &queue(member)).unwrap();
    }
    assert_eq!(books.handle(ONE, &queue(ONE)).unwrap_err(), Errno::EPERM);
    books.leave(TWO);
    books.handle(ONE, &queue(ONE)).unwrap();
    assert_eq!(books.gpus[0].queues, MAX_QUEUES_PER_DEVICE / 2 + 1);
}

#[test]
fn pasids_and_contexts_are_the_lowest_free() {
    let mut books = books();
    let process = |pid, primary| Request::Process { pid, primary };
    for (member, request) in [(ONE, process(10, true)), (TWO, process(20, true))] {
        books.handle(member, &request).unwrap();
    }
    for _ in 0..2 {
        books.handle(TWO, &process(20, false)).unwrap();
    }
    let shown = |books: &mut Books| {
        let files = books.files().into_iter();
        let pasids = files.filter_map(|(path, text)| {
            let path = path.strip_prefix("/sys/devices/virtual/kfd/kfd/proc/")?;
            Some((path.strip_suffix("/pasid")?.to_owned(), text.trim().parse::<u32>().unwrap()))
        });
        let mut pasids: Vec<_> = pasids.collect();
        pasids.sort_by_key(|&(_, pasid)| pasid);
        pasids
    };
    let names = ["10", "20", "20/context_0", "20/context_1"].map(str::to_owned);
    let expected: Vec<_> = names.into_iter().zip(1 << 15..).collect();
    assert_eq!(shown(&mut books), expected);
    books.leave(ONE);
    books.handle(ONE, &process(30, true)).unwrap();
    assert!(shown(&mut books).contains(&("30".to_owned(), 1 << 15)));
}

/// What counts for the whole board, whoever did it.
#[test]
fn aql_queues_and_resets_are_counted() {
    let mut books = books();
    let mut before = |member: u64, kind| {
        let request = Request::Queue { gpu: 0, process: member as u32, queue: (0, kind, 4096) };
        books.handle(member, &request).unwrap().words[1]
    };
    let counts = [before(ONE, 2), before(ONE, 0), before(TWO, 2), before(TWO, 2)];
    assert_eq!(counts, [0, 1, 1, 2]);
    books.leave(ONE);
    books.handle(TWO, &Request::Reset { gpu: 0 }).unwrap();
    let resets = books.handle(3, &Request::Resets { gpu: 0 }).unwrap().words[0];
    assert_eq!(resets, 1);
}
