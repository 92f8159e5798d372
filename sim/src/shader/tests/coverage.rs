//! Of the instructions of code objects in public packages (`tests/data/isa`), those that execute here.
//!
//! An instruction executes when one line of LLVM's listings that has its name decodes to the same text and runs on a
//! wave with an active lane, on memory that is mapped, without being refused or faulting.

use super::*;
use amdgpu_isa::{decode, disassemble};
use std::collections::{BTreeMap, BTreeSet};

/// What of a target's instructions executes, and what does not.
struct Coverage {
    target: Target,
    /// How often real code has each.
    counts: &'static str,
    /// LLVM's listings, and whether they are of waves of 32 lanes.
    listings: &'static [(&'static str, bool)],
    /// Names that do not execute.
    missing: &'static [&'static str],
}

macro_rules! listing {
    ($name:literal) => {
        include_str!(concat!("../../../../isa/tests/data/", $name, ".txt"))
    };
}

macro_rules! counts {
    ($name:literal) => {
        include_str!(concat!("../../../../tests/data/isa/", $name, ".tsv"))
    };
}

const COVERAGES: &[Coverage] = &[
    Coverage {
        target: Target::Gfx1151,
        counts: counts!("gfx1151"),
        listings: &[
            (listing!("gfx1151.wave32.llvm19"), true),
            (listing!("gfx1151.wave64.llvm19"), false),
            (listing!("gfx1151.true16.llvm22"), true),
        ],
        missing: &[],
    },
    Coverage {
        target: Target::Gfx1100,
        counts: counts!("gfx1100"),
        listings: &[
            (listing!("gfx1100.wave32.llvm19"), true),
            // Every instruction of gfx1100 is one of gfx1151, in the same encoding.
            (listing!("gfx1151.wave32.llvm19"), true),
            (listing!("gfx1151.wave64.llvm19"), false),
            (listing!("gfx1151.true16.llvm22"), true),
        ],
        missing: &[],
    },
    Coverage { target: Target::Gfx1201, counts: counts!("gfx1201"), listings: GFX12, missing: &[] },
    Coverage { target: Target::Gfx1200, counts: counts!("gfx1200"), listings: GFX12, missing: &[] },
    Coverage {
        target: Target::Gfx1030,
        counts: counts!("gfx1030"),
        listings: &[
            (listing!("gfx1030.wave32.llvm19"), true),
            (listing!("gfx1030.wave64.llvm19"), false),
        ],
        missing: &["ds_gws_barrier"],
    },
    Coverage {
        target: Target::Gfx906,
        counts: counts!("gfx906"),
        listings: &[(listing!("gfx906.llvm19"), false)],
        missing: &["ds_gws_barrier"],
    },
    Coverage {
        target: Target::Gfx90a,
        counts: counts!("gfx90a"),
        listings: &[(listing!("gfx90a.llvm19"), false)],
        missing: &["ds_gws_barrier"],
    },
    Coverage {
        target: Target::Gfx942,
        counts: counts!("gfx942"),
        listings: &[(listing!("gfx942.llvm19"), false)],
        missing: &[],
    },
    Coverage {
        target: Target::Gfx950,
        counts: counts!("gfx950"),
        listings: &[(listing!("gfx950.llvm22"), false), (listing!("gfx942.llvm19"), false)],
        missing: &[],
    },
];

const GFX12: &[(&str, bool)] = &[
    (listing!("gfx1200.wave32.llvm19"), true),
    (listing!("gfx1200.wave64.llvm19"), false),
    (listing!("gfx1201.wave32.llvm19"), true),
    (listing!("gfx1201.wave64.llvm19"), false),
    (listing!("gfx1201.later.llvm22"), true),
    (listing!("gfx1201.true16.llvm22"), true),
];

/// LLVM's lines for operands that the random listings lack and without which nothing executes.
fn added(target: Target) -> &'static [&'static str] {
    if matches!(target, Target::Gfx906 | Target::Gfx90a | Target::Gfx942 | Target::Gfx950) {
        &[
            "ba000901 00000003\ts_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3",
            "bf900001\ts_sendmsg sendmsg(MSG_INTERRUPT)",
        ]
    } else if matches!(target, Target::Gfx1200 | Target::Gfx1201) {
        &[
            "be804ec1\ts_barrier_signal -1",
            "bf94ffff\ts_barrier_wait 0xffff",
            "bfb60003\ts_sendmsg sendmsg(MSG_DEALLOC_VGPRS)",
            "8c820604\ts_or_b64 s[2:3], s[4:5], s[6:7]",
        ]
    } else {
        &["be824c80\ts_sendmsg_rtn_b32 s2, sendmsg(MSG_RTN_GET_DOORBELL)"]
    }
}

/// Mapped from address 0 on: registers are 0, so that accesses go to their constant offsets.
const MEMORY: u64 = 32 << 20;

/// Runs single instructions, each on a wave of its own.
struct Bench {
    target: Target,
    wave32: bool,
    launch: Launch,
    space: Arc<AddressSpace>,
    code: Arc<Backing>,
}

impl Bench {
    fn new(target: Target, wave32: bool) -> Bench {
        let mut launch = Rig::on(target, wave32).launch;
        launch.rsrc1 = 0x3f;
        launch.rsrc2 = 1;
        launch.rsrc3 = 0x1f;
        launch.scratch_bytes_per_wave = 4096;
        launch.scratch_waves = 1;
        let space = Arc::new(AddressSpace::new());
        let (memory, code) = (Arc::new(Backing::zeroed(MEMORY)), Arc::new(Backing::zeroed(4096)));
        let writable = Permissions::READ | Permissions::WRITE;
        assert!(space.map(0, MEMORY, memory, 0, writable));
        let executable = Permissions::READ | Permissions::EXECUTE;
        assert!(space.map(CODE, 4096, Arc::clone(&code), 0, executable));
        Bench { target, wave32, launch, space, code }
    }

    /// Whether an instruction executes: with all VGPRs 0, or with one of the small numbers that make up for the odd
    /// constant offsets of atomics.
    fn executes(&self, words: &[u32]) -> bool {
        (0..8).any(|fill| self.executes_on(words, fill))
    }

    fn executes_on(&self, words: &[u32], fill: u32) -> bool {
        for (offset, &word) in (0..).step_by(4).zip(words) {
            self.code.store_u32(offset, word);
        }
        let mut rig = Rig::on(self.target, self.wave32);
        let traits = Traits::of(self.target);
        let mut wave = Wave::new(self.wave32, traits, traits.registers(&self.launch));
        wave.mode = rig.wave.mode;
        for register in 0..wave.vgprs() {
            wave.set_lane(register, 0, fill);
        }
        wave.set_mask(EXEC, 1);
        let mut memory = View::new(Arc::clone(&self.space));
        let cache = InstructionCache::default();
        let mut code = Code::new(self.target, &self.launch, &cache);
        let Ok(op) = code.at(CODE, &mut memory) else { return false };
        wave.pc = CODE + u64::from(op.instruction.size);
        wave.executed = 1;
        let mut env = Env {
            memory: &mut memory,
            lds: &mut rig.lds,
            barriers: &mut rig.barriers,
            launch: &self.launch,
            outside: &Clock(1),
            wide: false,
            invalidate_code: false,
        };
        let step = (op.run)(&mut wave, op, &mut env);
        !matches!(step, Err(Stop::Fault(_)))
    }
}

/// Mnemonics without the suffix of the encoding; of dual issue both.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(" :: ").map(|half| {
        let name = half.split(' ').next().unwrap_or(half);
        ["_e32", "_e64", "_sdwa", "_dpp"]
            .iter()
            .fold(name, |name, suffix| name.strip_suffix(suffix).unwrap_or(name))
    })
}

impl Coverage {
    /// Names that execute.
    fn executed(&self) -> BTreeSet<&'static str> {
        let mut executed = BTreeSet::new();
        let added = added(self.target).iter().map(|line| (*line, false));
        let lines = self.listings.iter().flat_map(|&(listing, wave32)| {
            listing.lines().filter(|line| !line.starts_with('#')).map(move |line| (line, wave32))
        });
        let benches = [false, true].map(|wave32| Bench::new(self.target, wave32));
        for (line, wave32) in lines.chain(added) {
            let Some((hex, text)) = line.split_once('\t') else { continue };
            if text.is_empty() || names(text).all(|name| executed.contains(name)) {
                continue;
            }
            let words: Vec<u32> =
                hex.split(' ').map(|word| u32::from_str_radix(word, 16).expect("hex")).collect();
            let Ok(instruction) = decode(self.target, &words) else { continue };
            if disassemble(&instruction, self.target, wave32).to_string() == text
                && benches[usize::from(wave32)].executes(&words)
            {
                executed.extend(names(text));
            }
        }
        executed
    }

    fn check(&self) -> Result<(), String> {
        let executed = self.executed();
        let counts: BTreeMap<&str, u64> = self
            .counts
            .lines()
            .filter_map(|line| line.split_once('\t'))
            .map(|(name, count)| (name, count.parse().expect("a count")))
            .collect();
        let missing: Vec<&str> =
            counts.keys().copied().filter(|name| !executed.contains(*name)).collect();
        let lost: u64 = missing.iter().map(|name| counts[name]).sum();
        let all: u64 = counts.values().sum();
        println!(
            "{:?}: {} of {} names, {} of {all} instructions execute; missing {missing:?}",
            self.target,
            counts.len() - missing.len(),
            counts.len(),
            all - lost,
        );
        if missing != self.missing {
            return Err(format!("{:?}: missing {missing:?}", self.target));
        }
        if missing.len() * 100 > counts.len() * 3 || lost * 1000 > all {
            return Err(format!("{:?}: more than 3 % of names or 0.1 % of counts", self.target));
        }
        Ok(())
    }
}

#[test]
fn instructions_of_real_code_execute() {
    let wrong: Vec<_> = COVERAGES.iter().filter_map(|coverage| coverage.check().err()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
