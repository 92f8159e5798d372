//! Compute units: where workgroups run.

/// A compute unit's place on the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ComputeUnit {
    /// XCC.
    pub xcc: u32,
    /// Shader engine of the XCC.
    pub engine: u32,
    /// Shader array of the engine.
    pub array: u32,
    /// Among the array's. Two of them are a workgroup processor from gfx10 on.
    pub unit: u32,
}

impl ComputeUnit {
    /// All of a machine, in the order in which the bits of a mask of them are (kfd_mqd_manager.c,
    /// `mqd_symmetrically_map_cu_mask`): XCCs first, then engines of one, arrays, units of an array, `step` of them at a
    /// time. `units` are those of an XCC; where they are no multiple of the arrays, the first arrays have one step more.
    pub fn all(xccs: u32, engines: u32, arrays: u32, units: u32, step: u32) -> Vec<ComputeUnit> {
        let (shares, steps) = (engines * arrays, units / step.max(1));
        let mut all = Vec::new();
        if shares == 0 {
            return all;
        }
        for row in 0..steps.div_ceil(shares) {
            for share in 0..shares.min(steps - row * shares) {
                let (engine, array) = (share % engines, share / engines);
                for unit in row * step..(row + 1) * step {
                    all.extend((0..xccs).map(|xcc| ComputeUnit { xcc, engine, array, unit }));
                }
            }
        }
        all
    }

    /// Sorts units by XCC; nothing at all if there are none.
    pub(super) fn by_xcc(units: &[ComputeUnit], xccs: u32) -> Vec<Vec<ComputeUnit>> {
        let of = |xcc| units.iter().filter(|unit| unit.xcc == xcc).copied().collect();
        if units.is_empty() { Vec::new() } else { (0..xccs).map(of).collect() }
    }

    /// HW_ID: CU_ID 11:8, SH_ID 12, SE_ID 15:13 (HIP's amd_device_functions.h, `HW_ID_CU_ID_OFFSET` and on).
    pub(super) fn hardware_id(self) -> u32 {
        (self.unit & 0xf) << 8 | (self.array & 1) << 12 | (self.engine & 7) << 13
    }

    /// HW_ID1: SIMD_ID 9:8, of which the lowest bit says which unit of the processor it is, WGP_ID 13:10, SA_ID 16,
    /// SE_ID 20:18 (the same, `HW_ID_WGP_ID_OFFSET` and on).
    pub(super) fn hardware_id1(self) -> u32 {
        (self.unit & 1) << 8
            | (self.unit >> 1 & 0xf) << 10
            | (self.array & 1) << 16
            | (self.engine & 7) << 18
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of `mqd_symmetrically_map_cu_mask`'s comment has two engines of two arrays.
    #[test]
    fn engines_come_first() {
        let place = |u: &ComputeUnit| (u.engine, u.array, u.unit);
        let all = ComputeUnit::all(1, 2, 2, 12, 1);
        assert_eq!(all.len(), 12);
        let first: Vec<_> = all.iter().map(place).take(5).collect();
        assert_eq!(first, [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (0, 0, 1)]);
        let pairs: Vec<_> = ComputeUnit::all(1, 2, 1, 10, 2).iter().map(place).collect();
        assert_eq!(pairs[..4], [(0, 0, 0), (0, 0, 1), (1, 0, 0), (1, 0, 1)]);
        assert_eq!((pairs.len(), pairs[9]), (10, (0, 0, 5)));
        assert!(ComputeUnit::all(1, 0, 2, 4, 1).is_empty());
        // The bits of several XCCs take turns.
        let all = ComputeUnit::all(8, 4, 1, 38, 1);
        assert_eq!(all.len(), 304);
        assert_eq!((all[7].xcc, all[7].engine), (7, 0));
        assert_eq!((all[8].xcc, all[8].engine), (0, 1));
        assert_eq!(ComputeUnit::by_xcc(&all, 8).iter().map(Vec::len).collect::<Vec<_>>(), [38; 8]);
    }
}
