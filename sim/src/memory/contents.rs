//! What an address space holds, as a whole: for records.
#![expect(unsafe_code, reason = "mincore")]

use super::space::Region;
use super::{AddressSpace, Backing};

/// Bytes of a page.
const PAGE: u64 = 4096;
/// Dwords of a page.
pub(crate) const PAGE_DWORDS: usize = 1024;

/// A mapping, to tell whether it is still the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct MappingId {
    pub(crate) start: u64,
    pub(crate) length: u64,
    /// Host address of the first byte.
    host: usize,
}

/// Which pages of a region the host holds memory for; all, where it does not say.
fn populated(region: &Region) -> Vec<bool> {
    let pages = (region.length.div_ceil(PAGE)) as usize;
    let address = region.backing.host_address().wrapping_add(region.offset as usize);
    let mut resident = vec![0u8; pages];
    // SAFETY: the kernel writes one byte a page, and refuses addresses that are not mapped or not of a page's start.
    let result = unsafe {
        let pointer = std::ptr::with_exposed_provenance_mut(address);
        libc::mincore(pointer, region.length as usize, resident.as_mut_ptr())
    };
    resident.into_iter().map(|byte| result != 0 || byte & 1 != 0).collect()
}

impl AddressSpace {
    /// Shows the mappings, then each page that the host holds memory for, by address; but for those that show `except`.
    /// Nothing is unmapped meanwhile.
    pub(crate) fn contents(
        &self,
        except: &Backing,
        mappings: impl FnOnce(&[MappingId]),
        mut page: impl FnMut(u64, &[u32; PAGE_DWORDS]),
    ) {
        let all = self.read();
        let first = except.host_address();
        let excepted = first..first.saturating_add(except.len() as usize);
        let host =
            |region: &Region| region.backing.host_address().wrapping_add(region.offset as usize);
        let regions = || all.values().filter(|region| !excepted.contains(&host(region)));
        let ids: Vec<MappingId> = regions()
            .map(|region| MappingId {
                start: region.start,
                length: region.length,
                host: host(region),
            })
            .collect();
        mappings(&ids);
        let mut dwords = [0; PAGE_DWORDS];
        for region in regions() {
            let pages = (0..region.length).step_by(PAGE as usize).zip(populated(region));
            for (at, _) in pages.filter(|(_, populated)| *populated) {
                let count = ((region.length - at).min(PAGE) / 4) as usize;
                dwords[count..].fill(0);
                region.backing.load_dwords(region.offset + at, &mut dwords[..count]);
                page(region.start + at, &dwords);
            }
        }
    }

    /// Does something to a dword, given what backs it and where in that it is; `None` when it is not mapped as a whole.
    fn at_dword<T>(&self, address: u64, act: impl FnOnce(&Backing, u64) -> T) -> Option<T> {
        let regions = self.read();
        let (_, region) = regions.range(..=address).next_back()?;
        let within = address - region.start;
        let fits = within.checked_add(4)? <= region.length;
        fits.then(|| act(&region.backing, region.offset + within))
    }

    /// A dword whatever the permissions; 0 when nothing is mapped there.
    pub(super) fn dword(&self, address: u64) -> u32 {
        self.at_dword(address, Backing::load_u32).unwrap_or(0)
    }

    /// Writes a dword whatever the permissions; false when nothing is mapped there.
    pub(crate) fn overwrite(&self, address: u64, value: u32) -> bool {
        self.at_dword(address, |backing, offset| backing.store_u32(offset, value)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Permissions;
    use std::sync::Arc;

    #[test]
    fn contents_are_seen_and_overwritten() {
        let space = AddressSpace::new();
        let backing = Arc::new(Backing::zeroed(8192));
        assert!(space.map(0x10000, 8192, Arc::clone(&backing), 0, Permissions::READ));
        assert!(
            space.overwrite(0x11004, 7) && !space.overwrite(0x12000, 7) && !space.overwrite(0, 7)
        );
        let mut seen = Vec::new();
        space.contents(
            &Backing::zeroed(8),
            |mappings| assert_eq!((mappings.len(), mappings[0].start), (1, 0x10000)),
            |address, dwords| seen.push((address, dwords[1])),
        );
        assert!(seen.contains(&(0x11000, 7)));
        space.contents(
            &backing,
            |mappings| assert_eq!(mappings, []),
            |_, _| panic!("it is excepted"),
        );
    }
}
