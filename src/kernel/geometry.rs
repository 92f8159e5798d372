//! How many work-items a dispatch has.

use crate::Error;

/// Most work-items of a workgroup: ROCr's `HSA_AGENT_INFO_WORKGROUP_MAX_SIZE`
/// (`amd_gpu_agent.cpp`, `GpuAgent::GetInfo`).
pub const MAX_WORKGROUP: u32 = 1024;

/// The shape of a dispatch: grid and workgroup, both in work-items, and dynamic LDS.
///
/// The grid need not be a multiple of the workgroup: the last workgroups are then partial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    grid: [u32; 3],
    workgroup: [u16; 3],
    dimensions: u16,
    dynamic_lds: u32,
    // Divided once here and not for every dispatch.
    full_workgroups: [u32; 3],
    remainders: [u16; 3],
}

impl Geometry {
    /// A grid of `grid` work-items in workgroups of `workgroup`, one to three dimensions.
    ///
    /// # Errors
    /// [`Error::Geometry`] when the numbers of dimensions differ or are not 1, 2 or 3, when a size is 0,
    /// when a workgroup has more than 1024 work-items, or the grid 2^32 or more (in one dimension, or in all:
    /// `HSA_AGENT_INFO_GRID_MAX_SIZE` is 2^32 − 1 on every AMD GPU).
    pub fn new(grid: &[u64], workgroup: &[u64]) -> Result<Geometry, Error> {
        let refuse = |reason: String| Error::Geometry {
            grid: grid.to_vec(),
            workgroup: workgroup.to_vec(),
            reason,
        };
        if grid.len() != workgroup.len() || !(1..=3).contains(&grid.len()) {
            return Err(refuse(
                "grid and workgroup need the same one, two or three dimensions".into(),
            ));
        }
        let dimensions = grid.len() as u16; // CAST: at most 3
        let mut sizes = ([1u32; 3], [1u16; 3]);
        let mut items: u64 = 1;
        let mut group_items: u64 = 1;
        for (axis, (&size, &group)) in grid.iter().zip(workgroup).enumerate() {
            if size == 0 || group == 0 {
                return Err(refuse(format!("dimension {axis} is empty")));
            }
            items = items.saturating_mul(size);
            group_items = group_items.saturating_mul(group);
            if items > u64::from(u32::MAX) {
                return Err(refuse(format!("{items} work-items are more than {}", u32::MAX)));
            }
            if group_items > u64::from(MAX_WORKGROUP) {
                return Err(refuse(format!(
                    "a workgroup of {group_items} work-items is more than {MAX_WORKGROUP}"
                )));
            }
            sizes.0[axis] = size as u32; // CAST: checked against u32::MAX above
            sizes.1[axis] = group as u16; // CAST: checked against 1024 above
        }
        let (grid, workgroup) = sizes;
        let group = workgroup.map(u32::from);
        Ok(Geometry {
            grid,
            workgroup,
            dimensions,
            dynamic_lds: 0,
            full_workgroups: std::array::from_fn(|axis| grid[axis] / group[axis]),
            // CAST: a remainder is smaller than a workgroup.
            remainders: std::array::from_fn(|axis| (grid[axis] % group[axis]) as u16),
        })
    }

    /// A one-dimensional grid.
    ///
    /// # Errors
    /// As [`Geometry::new`].
    pub fn linear(items: u64, workgroup: u64) -> Result<Geometry, Error> {
        Geometry::new(&[items], &[workgroup])
    }

    /// Gives every workgroup `bytes` of LDS beyond what the kernel declares and its arguments ask for (HIP's
    /// `extern __shared__`).
    #[must_use]
    pub fn with_dynamic_lds(mut self, bytes: u32) -> Geometry {
        self.dynamic_lds = bytes;
        self
    }

    /// LDS beyond what the kernel declares and its arguments ask for, bytes.
    pub fn dynamic_lds(&self) -> u32 {
        self.dynamic_lds
    }

    /// Work-items in each dimension; 1 in those not used.
    pub fn grid(&self) -> [u32; 3] {
        self.grid
    }

    /// Work-items of a workgroup in each dimension; 1 in those not used.
    pub fn workgroup(&self) -> [u16; 3] {
        self.workgroup
    }

    /// 1, 2 or 3.
    pub fn dimensions(&self) -> u16 {
        self.dimensions
    }

    /// Work-items of a full workgroup.
    pub fn workgroup_items(&self) -> u32 {
        self.workgroup.iter().map(|&n| u32::from(n)).product()
    }

    /// Full workgroups in each dimension (what OpenCL and HIP call the block count).
    pub fn full_workgroups(&self) -> [u32; 3] {
        self.full_workgroups
    }

    /// Work-items left over after the full workgroups, in each dimension.
    pub fn remainders(&self) -> [u16; 3] {
        self.remainders
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_counted_in_work_items() {
        let geometry = Geometry::new(&[100, 7], &[16, 4]).unwrap();
        assert_eq!(geometry.grid(), [100, 7, 1]);
        assert_eq!(geometry.workgroup(), [16, 4, 1]);
        assert_eq!(geometry.full_workgroups(), [6, 1, 1]);
        assert_eq!(geometry.remainders(), [4, 3, 0]);
        assert_eq!(geometry.dimensions(), 2);
        assert!(Geometry::linear(u64::from(u32::MAX), 1024).is_ok());
    }

    #[test]
    fn out_of_range_sizes_are_refused() {
        for (grid, workgroup) in [
            (&[][..], &[][..]),
            (&[1, 1, 1, 1], &[1, 1, 1, 1]),
            (&[1], &[1, 1]),
            (&[0], &[1]),
            (&[1], &[0]),
            (&[1 << 32], &[256]),
            (&[1 << 16, 1 << 16], &[16, 16]),
            (&[u64::MAX, u64::MAX], &[1, 1]),
            (&[2048], &[1025]),
            (&[64, 64, 64], &[32, 32, 2]),
            (&[64], &[u64::MAX]),
        ] {
            assert!(Geometry::new(grid, workgroup).is_err(), "{grid:?} {workgroup:?}");
        }
    }
}
