//! The watchdog, the checks and the counts, on small programs (`tests/data/shader/*.s`); s[0:1] points to a buffer.

use selvedge_sim::memory::{AddressSpace, Backing, Permissions};
use selvedge_sim::profile;
use selvedge_sim::shader::{
    AccessKind, Checks, Counts, Decides, Finding, FindingKind, Inspection, InstructionCache,
    KernelAt, Launch, Outside, Space, Statistics, Times, Traffic, WaveFault, WaveFaultKind, run,
};
use std::sync::{Arc, Mutex};

const CODE: u64 = 0x10_0000_0000;
const OUT: u64 = 0x20_0000_0000;
const SCRATCH: u64 = 0x30_0000_0000;
const PAGE: u64 = 64 * 1024;

/// Hears what is found and counted.
#[derive(Default)]
struct Listener {
    findings: Mutex<Vec<Finding>>,
    counts: Mutex<Counts>,
}

impl Outside for Listener {
    fn is_stopped(&self) -> bool {
        false
    }

    fn clock(&self) -> u64 {
        0
    }

    fn queue(&self) -> u32 {
        3
    }

    fn packet(&self) -> u64 {
        7
    }

    fn found(&self, finding: Finding) {
        self.findings.lock().unwrap().push(finding);
    }

    fn process(&self) -> u32 {
        5
    }

    fn gpu(&self) -> u32 {
        1
    }

    fn counted(&self, kernel: KernelAt, counts: &Counts) {
        assert_eq!(kernel, KernelAt { process: 5, gpu: 1, address: CODE });
        *self.counts.lock().unwrap() = counts.clone();
    }
}

/// Workgroups of two waves, of 32 lanes or on gfx9 of 64.
struct Program {
    board: &'static str,
    code: &'static [u8],
    groups: u32,
}

macro_rules! program {
    ($name:literal on $board:literal) => {
        Program {
            board: $board,
            code: include_bytes!(concat!("../../tests/data/shader/", $name, ".bin")),
            groups: 1,
        }
    };
    ($name:literal) => {
        program!($name on "gfx1151")
    };
}

impl Program {
    fn of_two_groups(self) -> Program {
        Program { groups: 2, ..self }
    }

    fn run(&self, inspection: &Inspection) -> (Result<Statistics, WaveFault>, Listener) {
        let space = Arc::new(AddressSpace::new());
        let map = |at, permissions| {
            let backing = Arc::new(Backing::zeroed(PAGE));
            assert!(space.map(at, PAGE, Arc::clone(&backing), 0, permissions));
            backing
        };
        let code = map(CODE, Permissions::READ | Permissions::EXECUTE);
        for (offset, &byte) in (0..).zip(self.code) {
            code.store_u8(offset, byte);
        }
        map(OUT, Permissions::READ | Permissions::WRITE);
        map(SCRATCH, Permissions::READ | Permissions::WRITE);
        let lanes = if self.board.starts_with("gfx9") { 64 } else { 32 };
        let mut user_data = [0; 32];
        user_data[0] = OUT as u32;
        user_data[1] = (OUT >> 32) as u32;
        let launch = Launch {
            program: CODE,
            rsrc1: 3 | 0xf0 << 12,
            // Scratch, two user SGPRs, three workgroup ids.
            rsrc2: 1 | 2 << 1 | 7 << 7,
            // ACCUM_OFFSET of gfx90a and gfx942: 16 VGPRs.
            rsrc3: if lanes == 64 { 3 } else { 0 },
            wave32: lanes == 32,
            user_data,
            grid: [2 * lanes * self.groups, 1, 1],
            start: [0; 3],
            workgroup: [2 * lanes, 1, 1],
            lds_bytes: 8 * lanes,
            waves_per_compute_unit: 32,
            fill: 0,
            xccs: Default::default(),
            scratch_base: SCRATCH,
            scratch_bytes_per_wave: 64 * lanes,
            scratch_waves: 8,
            shared_aperture_hi: 1 << 16,
            private_aperture_hi: 2 << 16,
            trap_handler: None,
        };
        // No board of gfx942 is known; but for the instructions it is as gfx90a.
        let is_gfx942 = self.board == "gfx942";
        let mut gpu = profile::by_name(if is_gfx942 { "gfx90a" } else { self.board }).unwrap().gpu;
        if is_gfx942 {
            gpu.gfx_target_version = 90402;
        }
        let listener = Listener::default();
        let result =
            run(&gpu, &launch, &space, &InstructionCache::default(), &listener, inspection);
        (result, listener)
    }

    fn findings(&self, checks: Checks) -> Vec<Finding> {
        let inspection = Inspection { checks, ..Inspection::default() };
        let (result, listener) = self.run(&inspection);
        result.unwrap_or_else(|fault| panic!("{fault:?}"));
        listener.findings.into_inner().unwrap()
    }

    fn races(&self) -> Vec<Finding> {
        self.findings(Checks { races: true, uninitialised: false })
    }

    fn unset(&self) -> Vec<FindingKind> {
        let findings = self.findings(Checks { races: false, uninitialised: true });
        findings.into_iter().map(|finding| finding.kind).collect()
    }

    fn fault(&self, watchdog: u64) -> WaveFault {
        let inspection = Inspection { watchdog: Some(watchdog), ..Inspection::default() };
        self.run(&inspection).0.expect_err("the watchdog stops it")
    }
}

/// The instructions of each race.
fn pairs(findings: &[Finding]) -> Vec<[&str; 2]> {
    fn pair(finding: &Finding) -> [&str; 2] {
        match &finding.kind {
            FindingKind::Race { other, .. } => {
                [&other.instruction, &finding.site.instruction].map(|text| text.as_deref().unwrap())
            }
            _ => panic!("{finding:#?}"),
        }
    }
    findings.iter().map(pair).collect()
}

#[test]
fn a_missing_barrier_is_a_race() {
    let findings = program!("race_lds").races();
    let (load, store) = ("ds_load_b32 v3, v2", "ds_store_b32 v1, v0");
    assert_eq!(pairs(&findings), [[load, store], [store, load]]);
    assert_eq!(
        findings[0].to_string(),
        "race of waves on LDS byte 0x80, store; kernel 0x1000000000 of process 5, GPU 1, queue 3, packet 7, \
         workgroup [0, 0, 0] wave 1 at 0x100000000c: ds_store_b32 v1, v0; \
         before it load by workgroup [0, 0, 0] wave 0 at 0x1000000020: ds_load_b32 v3, v2"
    );
    // Both workgroups store to the same memory, too.
    assert_eq!(program!("race_lds").of_two_groups().races().len(), 3);
    let findings = program!("race_split" on "gfx1201").races();
    assert_eq!(pairs(&findings), [[load, store], [store, load]]);
}

#[test]
fn barriers_order() {
    assert_eq!(program!("ordered_lds").findings(Checks::ALL), []);
    assert_eq!(program!("ordered_split" on "gfx1201").findings(Checks::ALL), []);
    assert_eq!(program!("barrier").races(), []);
}

#[test]
fn workgroups_race_on_memory() {
    let findings = program!("race_global").of_two_groups().races();
    let store = "global_store_b32 v1, v2, s[0:1]";
    assert_eq!(pairs(&findings), [[store, store]]);
    let FindingKind::Race { space, address, access, other_access, .. } = findings[0].kind else {
        panic!("{findings:?}");
    };
    assert_eq!((space, address), (Space::Global, OUT));
    assert_eq!([access, other_access], [AccessKind::Store; 2]);
}

#[test]
fn atomics_order() {
    for program in [program!("message"), program!("flag")] {
        // One wave of each workgroup is enough to send and to receive; both do the same.
        let findings = program.of_two_groups().races();
        let between_groups = |finding: &&Finding| match &finding.kind {
            FindingKind::Race { other, .. } => other.workgroup != finding.site.workgroup,
            _ => true,
        };
        assert_eq!(findings.iter().find(between_groups), None);
    }
}

#[test]
fn lds_that_nothing_has_written() {
    assert_eq!(program!("unset_lds").unset(), [FindingKind::UnwrittenLds { address: 12 }]);
}

#[test]
fn registers_that_nothing_has_set_are_told_where_they_decide() {
    let unset = |register: &str, decides| FindingKind::Unset { register: register.into(), decides };
    assert_eq!(
        program!("unset_registers").unset(),
        [
            unset("v2[0]", Decides::Memory),
            unset("v3[0]", Decides::Address),
            unset("scc", Decides::Branch),
            unset("exec[0]", Decides::Execution),
        ]
    );
}

#[test]
fn what_compilers_do_with_registers_is_right() {
    assert_eq!(program!("set_registers").unset(), []);
    assert_eq!(program!("scratch").unset(), []);
}

#[test]
fn the_watchdog_stops_what_does_not_end() {
    let fault = program!("endless").fault(5000);
    assert_eq!(fault.kind, WaveFaultKind::Endless { instructions: 5000 });
    assert_eq!((fault.pc, fault.instruction.as_deref()), (CODE, Some("s_branch 65535")));
    let inspection = Inspection { watchdog: Some(12), ..Inspection::default() };
    let (result, _) = program!("race_lds").run(&inspection);
    assert_eq!(result, Ok(Statistics { waves: 2, instructions: 18 }));
}

#[test]
fn the_watchdog_finds_barriers_that_nobody_completes() {
    let fault = program!("wait_only" on "gfx1201").fault(1 << 40);
    assert_eq!((fault.kind, fault.pc, fault.wave), (WaveFaultKind::Deadlock, CODE, 0));
    assert_eq!(fault.instruction.as_deref(), Some("s_barrier_wait 0xffff"));
}

#[test]
fn accesses_are_counted() {
    let inspection = Inspection { counts: true, ..Inspection::default() };
    let counts = program!("race_lds").run(&inspection).1.counts.into_inner().unwrap();
    let traffic = Traffic { instructions: 2, accesses: 64, bytes: 256 };
    assert_eq!(counts.operations["DS_LOAD_B32"], Times { instructions: 2, lanes: 64 });
    assert_eq!(counts.memory[&(Space::Lds, AccessKind::Store)], traffic);
    assert_eq!(counts.memory[&(Space::Lds, AccessKind::Load)], traffic);
    assert_eq!(counts.memory[&(Space::Global, AccessKind::Store)], traffic);
    assert_eq!(counts.memory.len(), 3);
}

#[test]
fn loads_into_lds_set_it_and_race() {
    let program = || program!("staged" on "gfx942");
    let (load, read) = ("global_load_lds_dword v1, s[0:1]", "ds_read_b32 v4, v2");
    assert_eq!(pairs(&program().races()), [[read, load], [load, read]]);
    // Memory that one workgroup loads another stores.
    let store = "global_store_dword v1, v3, s[0:1]";
    let races = program().of_two_groups().races();
    assert!(pairs(&races).contains(&[store, load]), "{races:?}");
    let register = String::from("v0[0]");
    assert_eq!(
        program().unset(),
        [
            FindingKind::UnwrittenLds { address: 256 },
            // No register gets what is loaded.
            FindingKind::Unset { register, decides: Decides::Memory },
        ]
    );
    let inspection = Inspection { counts: true, ..Inspection::default() };
    let counts = program().run(&inspection).1.counts.into_inner().unwrap();
    let traffic = Traffic { instructions: 2, accesses: 128, bytes: 512 };
    assert_eq!(counts.memory[&(Space::Global, AccessKind::Load)], traffic);
    assert_eq!(counts.memory[&(Space::Lds, AccessKind::Store)], traffic);
}

#[test]
fn what_is_unset_at_the_end_of_a_store_is_padding() {
    let unset =
        |register: &str| FindingKind::Unset { register: register.into(), decides: Decides::Memory };
    assert_eq!(program!("padding").unset(), [unset("v5[0]"), unset("v8[0]")]);
}

#[test]
fn one_finding_of_an_instruction_hides_no_other() {
    let unset = |register: &str, decides| FindingKind::Unset { register: register.into(), decides };
    assert_eq!(
        program!("unset_both").unset(),
        [
            unset("v5[0]", Decides::Address),
            unset("v6[0]", Decides::Memory),
            unset("v5[0]", Decides::Address),
            FindingKind::UnwrittenLds { address: 0 },
        ]
    );
}

#[test]
fn instructions_that_wait_or_fault_are_counted_when_they_are_executed() {
    let inspection = Inspection { counts: true, ..Inspection::default() };
    let counts = |program: Program| {
        let (result, listener) = program.run(&inspection);
        (result.is_ok(), listener.counts.into_inner().unwrap())
    };
    let (ended, split) = counts(program!("ordered_split" on "gfx1201"));
    assert!(ended);
    assert_eq!(split.operations["S_BARRIER_WAIT"], Times { instructions: 2, lanes: 64 });
    let (ended, faulting) = counts(program!("unmapped"));
    assert!(!ended);
    assert_eq!(faulting.operations.keys().collect::<Vec<_>>(), [&"V_MOV_B32"]);
    assert!(faulting.memory.is_empty());
}
