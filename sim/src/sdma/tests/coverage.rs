//! What happens to each packet that there is.

use super::*;
use ::sdma::packet::LAYOUTS;
use expect_test::expect;

/// Every packet of every version with all fields clear: done or refused. Addresses are 0, so
/// that those that touch memory fault.
#[test]
fn every_packet_is_done_or_refused() {
    let mut list = String::new();
    for layout in LAYOUTS {
        let versions = Version::ALL.into_iter().filter(|v| layout.variants.contains(v.set()));
        let mut fates: Vec<&str> = versions
            .map(|version| {
                let mut rig = Rig::new(version);
                // INDIRECT ends a group of 8.
                if layout.name == "INDIRECT" {
                    rig.place(&[0, 0]);
                }
                let mut words = vec![0; layout.dwords + 1];
                words[0] = layout.fixed;
                let end = rig.written + 4 * words.len() as u64;
                rig.submit(&words);
                wait_for(layout.name, || {
                    rig.read_u64(READ) == end
                        || rig.queue.fault().is_some()
                        || !rig.host.told().is_empty()
                });
                match (rig.queue.fault().map(|fault| fault.error), &rig.host.told()[..]) {
                    (Some(QueueError::NotModelled { .. }), _) => "refused",
                    (Some(QueueError::SdmaPacket(_)), _) => "no packet",
                    (None, [Told::Fault(fault)]) if fault.address < 64 => "done",
                    (None, [] | [Told::Interrupt(0)]) => "done",
                    other => panic!("{}: {other:?}", layout.name),
                }
            })
            .collect();
        fates.dedup();
        list += &format!("{}: {}\n", layout.name, fates.join(", "));
    }
    expect![[r#"
        COPY_LINEAR: done
        COPY_LINEAR.meta: done
        COPY_BROADCAST_LINEAR: done
        COPY_LINEAR_BC: refused
        COPY_LINEAR_SUBWIN: done
        COPY_LINEAR_SUBWIN_BC: refused
        COPY_LINEAR_SUBWIN_LARGE: refused
        COPY_DIRTY_PAGE: refused
        COPY_PHYSICAL_LINEAR: refused
        COPY_PHYSICAL_LINEAR.meta: refused
        COPY_PAGE_TRANSFER: refused
        COPY_TILED: refused
        COPY_L2T_BROADCAST: refused
        COPY_TILED_SUBWIN: refused
        COPY_TILED_SUBWIN.meta: refused
        COPY_TILED_SUBWIN.compressed: refused
        COPY_T2T: refused
        COPY_T2T.meta: refused
        COPY_T2T.compressed: refused
        COPY_STRUCT: refused
        COPY_TILED_BC: refused
        COPY_TILED_BC.slice: refused
        COPY_TILED_SUBWIN_BC: refused
        COPY_T2T_BC: refused
        WRITE_UNTILED: done
        WRITE_TILED: refused
        WRITE_TILED_BC: refused
        CONSTANT_FILL: done
        DATA_FILL_MULTI: refused
        CONSTANT_FILL_PAGE: refused
        DECOMPRESS_BLT_LINEAR: refused
        DECOMPRESS_BLT_SUBWIN: refused
        FENCE: done
        FENCE_CONDITIONAL_INTERRUPT: refused
        TRAP: done
        DUMMY_TRAP.old: done
        DUMMY_TRAP: done
        POLL_REGMEM: done
        POLL_REG_WRITE_MEM: refused
        POLL_REG_WRITE_MEM.indexed: refused
        POLL_DBIT_WRITE_MEM: refused
        POLL_MEM_VERIFY: refused
        POLL_MEM_VERIFY.short: refused
        ATOMIC: refused
        SEMAPHORE: done
        MEM_INCR: done
        TIMESTAMP_SET: done
        TIMESTAMP_GET: done
        TIMESTAMP_GET_GLOBAL: done
        NOP: done
        INDIRECT: done
        COND_EXE: done
        PRE_EXE: done
        SRBM_WRITE: refused
        REGISTER_WRITE: refused
        REGISTER_RMW: refused
        REGISTER_RMW.indexed: refused
        GCR_REQ: done
        GCR_USER: done
        WRITE_INCR: done
        PTEPDE_COPY: refused
        PTEPDE_RMW: refused
        PTEPDE_RMW.many: refused
        PTEPDE_COPY_BACKWARDS: refused
        GPUVM_INV: refused
        VM_INVALIDATION: refused
        INVALIDATION: refused
    "#]]
    .assert_eq(&list);
}
