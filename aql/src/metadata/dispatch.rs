//! The record of a dispatch.

use super::MetadataHeader;
use super::launch::{DataPrefetch, LaunchDescriptor};
use crate::Signed;
use crate::header::PacketType;

pm4::layout! {
    /// What the packet processor would else have to read from memory before it starts a kernel: the completion
    /// signal's event, most of the kernel descriptor, arguments for user SGPRs.
    pub struct MetadataKernelDispatch: "METADATA_KERNEL_DISPATCH", 64 dwords everywhere;
    source "hsa_ext_amd.h 1.21, hsa_amd_metadata_kernel_dispatch_packet_t";
    fixed 0 = 0;
    /// Type of the packet in the ring that the record goes with; [`PacketType::INVALID`] for no record.
    packet_type: PacketType = 0[7:0] as type;
    /// Major version of the record: 0.
    version_major: u8 = 0[26:24];
    /// Minor version of the record: 0.
    version_minor: u8 = 0[31:27];
    /// `event_id` of the packet's completion signal; 0 without one.
    event_id: u32 = 1[31:0];
    /// Distance in bytes from the kernel descriptor (not from the record) to the entry.
    kernel_code_entry_byte_offset: Signed =
        2[31:0] as kernel_code_entry_byte_offset_lo | 3[31:0] << 32 as kernel_code_entry_byte_offset_hi;
    /// The descriptor's COMPUTE_PGM_RSRC3.
    compute_pgm_rsrc3: u32 = 9[31:0];
    /// The descriptor's COMPUTE_PGM_RSRC1.
    compute_pgm_rsrc1: u32 = 10[31:0];
    /// The descriptor's COMPUTE_PGM_RSRC2.
    compute_pgm_rsrc2: u32 = 11[31:0];
    /// The descriptor's kernel code properties.
    kernel_code_properties: u16 = 12[15:0];
    /// How many dwords of the arguments are preloaded, at most 32.
    kernarg_preload_length: u8 = 12[22:16];
    /// The first of them, in dwords from the arguments' start.
    kernarg_preload_offset: u16 = 12[31:23];
    /// Dword 0 again.
    header1: u32 = 16[31:0];
    /// Dword 0 again.
    header2: u32 = 32[31:0];
    /// Dword 0 again.
    header3: u32 = 48[31:0];
    /// Dword 0 preloaded from the arguments.
    kernarg_preload_0: u32 = 17[31:0];
    /// Dword 1 preloaded from the arguments.
    kernarg_preload_1: u32 = 18[31:0];
    /// Dword 2 preloaded from the arguments.
    kernarg_preload_2: u32 = 19[31:0];
    /// Dword 3 preloaded from the arguments.
    kernarg_preload_3: u32 = 20[31:0];
    /// Dword 4 preloaded from the arguments.
    kernarg_preload_4: u32 = 21[31:0];
    /// Dword 5 preloaded from the arguments.
    kernarg_preload_5: u32 = 22[31:0];
    /// Dword 6 preloaded from the arguments.
    kernarg_preload_6: u32 = 23[31:0];
    /// Dword 7 preloaded from the arguments.
    kernarg_preload_7: u32 = 24[31:0];
    /// Dword 8 preloaded from the arguments.
    kernarg_preload_8: u32 = 25[31:0];
    /// Dword 9 preloaded from the arguments.
    kernarg_preload_9: u32 = 26[31:0];
    /// Dword 10 preloaded from the arguments.
    kernarg_preload_10: u32 = 27[31:0];
    /// Dword 11 preloaded from the arguments.
    kernarg_preload_11: u32 = 28[31:0];
    /// Dword 12 preloaded from the arguments.
    kernarg_preload_12: u32 = 29[31:0];
    /// Dword 13 preloaded from the arguments.
    kernarg_preload_13: u32 = 30[31:0];
    /// Dword 14 preloaded from the arguments.
    kernarg_preload_14: u32 = 31[31:0];
    /// Dword 15 preloaded from the arguments.
    kernarg_preload_15: u32 = 33[31:0];
    /// Dword 16 preloaded from the arguments.
    kernarg_preload_16: u32 = 34[31:0];
    /// Dword 17 preloaded from the arguments.
    kernarg_preload_17: u32 = 35[31:0];
    /// Dword 18 preloaded from the arguments.
    kernarg_preload_18: u32 = 36[31:0];
    /// Dword 19 preloaded from the arguments.
    kernarg_preload_19: u32 = 37[31:0];
    /// Dword 20 preloaded from the arguments.
    kernarg_preload_20: u32 = 38[31:0];
    /// Dword 21 preloaded from the arguments.
    kernarg_preload_21: u32 = 39[31:0];
    /// Dword 22 preloaded from the arguments.
    kernarg_preload_22: u32 = 40[31:0];
    /// Dword 23 preloaded from the arguments.
    kernarg_preload_23: u32 = 41[31:0];
    /// Dword 24 preloaded from the arguments.
    kernarg_preload_24: u32 = 42[31:0];
    /// Dword 25 preloaded from the arguments.
    kernarg_preload_25: u32 = 43[31:0];
    /// Dword 26 preloaded from the arguments.
    kernarg_preload_26: u32 = 44[31:0];
    /// Dword 27 preloaded from the arguments.
    kernarg_preload_27: u32 = 45[31:0];
    /// Dword 28 preloaded from the arguments.
    kernarg_preload_28: u32 = 46[31:0];
    /// Dword 29 preloaded from the arguments.
    kernarg_preload_29: u32 = 47[31:0];
    /// Dword 30 preloaded from the arguments.
    kernarg_preload_30: u32 = 49[31:0];
    /// Dword 31 preloaded from the arguments.
    kernarg_preload_31: u32 = 50[31:0];
    /// The first of the 13 dwords of a [`LaunchDescriptor`] with its two [`DataPrefetch`]; zero for none. The
    /// header that the record is from has them reserved.
    launch_descriptor_0: u32 = 51[31:0];
    launch_descriptor_1: u32 = 52[31:0];
    launch_descriptor_2: u32 = 53[31:0];
    launch_descriptor_3: u32 = 54[31:0];
    launch_descriptor_4: u32 = 55[31:0];
    launch_descriptor_5: u32 = 56[31:0];
    launch_descriptor_6: u32 = 57[31:0];
    launch_descriptor_7: u32 = 58[31:0];
    launch_descriptor_8: u32 = 59[31:0];
    launch_descriptor_9: u32 = 60[31:0];
    launch_descriptor_10: u32 = 61[31:0];
    launch_descriptor_11: u32 = 62[31:0];
    launch_descriptor_12: u32 = 63[31:0];
}

impl MetadataKernelDispatch {
    /// A record of version 0.0 for a packet of this type, zero but for its headers.
    pub const fn new(packet_type: PacketType) -> MetadataKernelDispatch {
        MetadataKernelDispatch { packet_type, ..MetadataKernelDispatch::ZERO }.with_headers()
    }

    /// The same with headers 1 to 3 equal to dword 0.
    pub const fn with_headers(self) -> MetadataKernelDispatch {
        let [header, ..] = self.encode();
        MetadataKernelDispatch { header1: header, header2: header, header3: header, ..self }
    }

    /// The header in dword 0.
    pub const fn header(&self) -> MetadataHeader {
        MetadataHeader::from_word(self.encode()[0])
    }

    /// The arguments for user SGPRs, of which [`kernarg_preload_length`](Self::kernarg_preload_length) count.
    pub const fn kernarg_preload(&self) -> [u32; 32] {
        let words = self.encode();
        let mut preload = [0; 32];
        let mut index = 0;
        while index < preload.len() {
            preload[index] = words[Self::kernarg_preload_dword(index)];
            index += 1;
        }
        preload
    }

    /// Which dword of the record preloaded dword `index` is in: 15 behind the second header, 15 behind the third, 2
    /// behind the fourth.
    pub const fn kernarg_preload_dword(index: usize) -> usize {
        17 + index + index / 15
    }

    /// The launch descriptor and its regions; `None` when there is none (version 0).
    pub fn launch_descriptor(&self) -> Option<(LaunchDescriptor, [DataPrefetch; 2])> {
        let words = self.encode();
        let (_, words) = words.split_at(51);
        let descriptor = LaunchDescriptor::decode(words).ok()?;
        let regions =
            [DataPrefetch::decode(&words[5..]).ok()?, DataPrefetch::decode(&words[9..]).ok()?];
        (descriptor.version != 0).then_some((descriptor, regions))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_alike() {
        let record = MetadataKernelDispatch::new(PacketType::KERNEL_DISPATCH);
        let words = record.encode();
        for dword in [0, 16, 32, 48] {
            assert_eq!(words[dword], 2);
        }
        assert_eq!(words.iter().filter(|&&word| word != 0).count(), 4);
        assert_eq!(record.header().packet_type, PacketType::KERNEL_DISPATCH);
    }

    #[test]
    fn preloaded_dwords_are_where_the_fields_are() {
        let mut words = [0; 64];
        for index in 0..32 {
            words[MetadataKernelDispatch::kernarg_preload_dword(index)] = index as u32 + 1;
        }
        let record = MetadataKernelDispatch::decode(&words).unwrap();
        assert_eq!(record.kernarg_preload(), core::array::from_fn(|index| index as u32 + 1));
        assert_eq!((record.kernarg_preload_0, record.kernarg_preload_14), (1, 15));
        assert_eq!((record.kernarg_preload_15, record.kernarg_preload_31), (16, 32));
        assert_eq!(record.reserved, [0; 64]);
    }

    #[test]
    fn launch_descriptors() {
        let mut words = MetadataKernelDispatch::new(PacketType::KERNEL_DISPATCH).encode();
        assert_eq!(MetadataKernelDispatch::decode(&words).unwrap().launch_descriptor(), None);
        let descriptor =
            LaunchDescriptor { version: 1, tg_chunk_size: 16, ..LaunchDescriptor::ZERO };
        let region = DataPrefetch { burst_size: 512, num_burst: 3, ..DataPrefetch::ONE_BURST };
        words[51..56].copy_from_slice(&descriptor.encode());
        words[60..].copy_from_slice(&region.encode());
        let record = MetadataKernelDispatch::decode(&words).unwrap();
        assert_eq!(record.encode(), words);
        let (read, [none, one]) = record.launch_descriptor().unwrap();
        assert_eq!((read, one), (descriptor, region));
        assert_eq!(none.encode(), [0; 4]);
    }
}
