/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_KERNEL_NVIDIA_H
#define MUSTER_KERNEL_NVIDIA_H

/* The entries of NVIDIA's drivers in the kernel log: one row per code. kernel_event.h describes the
 * columns. The rows of one code are tried in their order.
 *
 * The codes, meanings and immediate actions (the last column but one) of XIDs are from NVIDIA's Xid
 * catalog (docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html, 172 codes, read as of
 * 2025-10), those of SXIDs from appendix D of the Fabric Manager User Guide (DU-09883-001 v1.3).
 *
 * By default muster drains for codes that are bad everywhere (48, 64, 74, 79, 95, 119, 120, 140:
 * NVIDIA, DCGM and Azure agree), for codes for which NVIDIA asks for a reset and which a program
 * cannot cause (46, 62, 143, 158), and if the driver itself asks for it (154). A code with the
 * action RESTART_APP is a fault of a job's program and never drains, nor does an unlisted code. All
 * GPUs of a link write the NVLink codes of Blackwell (144 to 150), also the peers of the faulty
 * GPU: 154 shows which GPU must be reset. A fatal SXID of one port comes as Xid 74 of its GPU. */

/* clang-format off */
#define KERNEL_XID_TABLE \
KERNEL_XID(1, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: fifo error fifo method") \
KERNEL_XID(2, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: fifo error sw method") \
KERNEL_XID(3, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: fifo error unk method") \
KERNEL_XID(4, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: fifo error channel busy") \
KERNEL_XID(5, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: fifo error runout overflow") \
KERNEL_XID(6, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: fifo error parse err") \
KERNEL_XID(7, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: fifo error pte err") \
KERNEL_XID(8, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "GPU stopped processing") \
KERNEL_XID(9, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: gr error instance") \
KERNEL_XID(10, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: gr error single step") \
KERNEL_XID(11, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "invalid or corrupted push buffer stream") \
KERNEL_XID(12, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: gr error sw method") \
KERNEL_XID(13, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "graphics engine exception") \
KERNEL_XID(14, MACHINE, IGNORE, GPU_DRIVER_ERROR, "IGNORE", "unused since Ampere: fake error") \
KERNEL_XID(15, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: scanline timeout") \
KERNEL_XID(16, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: vblank callback timeout") \
KERNEL_XID(17, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: parameter error") \
KERNEL_XID(18, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: bus master timeout error") \
KERNEL_XID(19, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: disp missed notifier") \
KERNEL_XID(20, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: mpeg error sw method") \
KERNEL_XID(21, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: me error sw method") \
KERNEL_XID(22, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: vp error sw method") \
KERNEL_XID(23, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: rc logging enabled") \
KERNEL_XID(24, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: gr semaphore timeout") \
KERNEL_XID(25, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "invalid or illegal push buffer stream") \
KERNEL_XID(26, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: fifo error fbistate timeout") \
KERNEL_XID(27, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: vp error") \
KERNEL_XID(28, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: vp2 error") \
KERNEL_XID(29, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: bsp error") \
KERNEL_XID(30, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: bad addr access") \
KERNEL_XID(31, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "GPU memory page fault") \
KERNEL_XID(32, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "invalid or corrupted push buffer stream") \
KERNEL_XID(33, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: sec error") \
KERNEL_XID(34, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: msvld error") \
KERNEL_XID(35, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: mspdec error") \
KERNEL_XID(36, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: msppp error") \
KERNEL_XID(37, MACHINE, IGNORE, GPU_DRIVER_ERROR, "IGNORE", "driver firmware error") \
KERNEL_XID(38, MACHINE, IGNORE, GPU_DRIVER_ERROR, "IGNORE", "driver firmware error") \
KERNEL_XID(39, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "copy engine exception") \
KERNEL_XID(40, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "copy engine exception") \
KERNEL_XID(41, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "copy engine exception") \
KERNEL_XID(42, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: vic error") \
KERNEL_XID(43, JOB, WARN, APPLICATION_FAULT, "IGNORE", "GPU stopped processing") \
KERNEL_XID(44, MACHINE, IGNORE, GPU_DRIVER_ERROR, "IGNORE", "graphics engine fault during context switch") \
KERNEL_XID_FOLLOWS(45, JOB, WARN, APPLICATION_FAULT, "WORKFLOW_XID_45", "channel removed after an earlier error or the end of a program") \
KERNEL_XID(46, MACHINE, DRAIN, GPU_RESET_REQUIRED, "RESET_GPU", "GPU stopped processing") \
KERNEL_XID(47, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: nvenc0 error") \
KERNEL_XID(48, MACHINE, DRAIN, GPU_MEMORY_ERRORS, "WORKFLOW_XID_48", "double bit ECC error") \
KERNEL_XID(49, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: silent running constant level set by registry") \
KERNEL_XID(50, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: silent running level transition due to rc error") \
KERNEL_XID(51, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: silent running stress test failure") \
KERNEL_XID(52, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: silent running level trans due to temp rise") \
KERNEL_XID(53, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: silent running temp reduced clocking") \
KERNEL_XID(54, MACHINE, WARN, GPU_DRIVER_ERROR, "CHECK_MECHANICALS", "auxiliary power is not connected to the GPU board") \
KERNEL_XID(55, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: silent running temperature read error") \
KERNEL_XID(56, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: display channel exception") \
KERNEL_XID(57, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: fb link training failure error") \
KERNEL_XID(58, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: fb memory error") \
KERNEL_XID(59, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: pmu error") \
KERNEL_XID(60, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "video processor exception") \
KERNEL_XID(61, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: pmu breakpoint") \
KERNEL_XID(62, MACHINE, DRAIN, GPU_RESET_REQUIRED, "RESET_GPU", "a micro-controller of the GPU halted") \
KERNEL_XID(63, MACHINE, WARN, GPU_ROW_REMAP_PENDING, "IGNORE", "GPU memory remapping event") \
KERNEL_XID(64, MACHINE, DRAIN, GPU_ROW_REMAP_FAILED, "RESET_GPU", "GPU memory remapping failure") \
KERNEL_XID(65, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: nvenc1 error") \
KERNEL_XID(66, MACHINE, IGNORE, GPU_DRIVER_ERROR, "IGNORE", "illegal access by driver") \
KERNEL_XID(67, MACHINE, IGNORE, GPU_DRIVER_ERROR, "IGNORE", "illegal access by driver") \
KERNEL_XID(68, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "NVDEC0 exception") \
KERNEL_XID(69, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "graphics engine class error") \
KERNEL_XID(70, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "CE3: unknown error") \
KERNEL_XID(71, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "CE4: unknown error") \
KERNEL_XID(72, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "CE5: unknown error") \
KERNEL_XID(73, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: nvenc2 error") \
KERNEL_XID(74, MACHINE, DRAIN, GPU_LINK_DOWN, "WORKFLOW_NVLINK_ERR", "NVLink error") \
KERNEL_XID(75, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "CE6: unknown error") \
KERNEL_XID(76, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "CE7: unknown error") \
KERNEL_XID(77, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "CE8: unknown error") \
KERNEL_XID(78, MACHINE, WARN, GPU_DRIVER_ERROR, "UPDATE_SWFW", "vGPU start error") \
KERNEL_XID(79, MACHINE, DRAIN, GPU_LOST, "RESTART_BM", "GPU has fallen off the bus") \
KERNEL_XID(80, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "corrupted data sent to GPU") \
KERNEL_XID(81, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: vga subsystem error") \
KERNEL_XID(82, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "NVJPG0 error") \
KERNEL_XID(83, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "NVDEC1 error") \
KERNEL_XID(84, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "NVDEC2 error") \
KERNEL_XID(85, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "CE9: unknown error") \
KERNEL_XID(86, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "OFA exception") \
KERNEL_XID(87, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: nvtelemetry driver report") \
KERNEL_XID(88, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "NVDEC3 error") \
KERNEL_XID(89, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "NVDEC4 error") \
KERNEL_XID(90, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: ltc error") \
KERNEL_XID(91, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: reserved xid") \
KERNEL_XID(92, MACHINE, WARN, GPU_MEMORY_CORRECTED, "IGNORE", "high single-bit ECC error rate") \
KERNEL_XID(93, MACHINE, WARN, GPU_DRIVER_ERROR, "IGNORE", "InfoROM wear limit exceeded") \
KERNEL_XID(94, MACHINE, WARN, GPU_MEMORY_ERRORS, "RESTART_APP", "contained memory error") \
KERNEL_XID(95, MACHINE, DRAIN, GPU_MEMORY_ERRORS, "RESET_GPU", "uncontained memory error") \
KERNEL_XID(96, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "NVDEC5 error") \
KERNEL_XID(97, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "NVDEC6 error") \
KERNEL_XID(98, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "NVDEC7 error") \
KERNEL_XID(99, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "NVJPG1 error") \
KERNEL_XID(100, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "NVJPG2 error") \
KERNEL_XID(101, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "NVJPG3 error") \
KERNEL_XID(102, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "NVJPG4 error") \
KERNEL_XID(103, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "NVJPG5 error") \
KERNEL_XID(104, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "NVJPG6 error") \
KERNEL_XID(105, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "NVJPG7 error") \
KERNEL_XID(106, MACHINE, IGNORE, GPU_DRIVER_ERROR, "IGNORE", "SMBPBI test message") \
KERNEL_XID(107, MACHINE, IGNORE, GPU_DRIVER_ERROR, "IGNORE", "SMBPBI test message silent") \
KERNEL_XID(108, MACHINE, IGNORE, GPU_DRIVER_ERROR, "IGNORE", "unused since Ampere: nvlink remote translation error") \
KERNEL_XID(109, MACHINE, WARN, GPU_DRIVER_ERROR, "RESET_GPU", "context switch timeout error") \
KERNEL_XID(110, MACHINE, WARN, GPU_DRIVER_ERROR, "RESET_GPU", "security fault error") \
KERNEL_XID(111, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: bundle error event") \
KERNEL_XID(112, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: disp supervisor error") \
KERNEL_XID(113, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: dp lt failure") \
KERNEL_XID(114, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: head rg underflow") \
KERNEL_XID(115, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: core channel regs") \
KERNEL_XID(116, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: window channel regs") \
KERNEL_XID(117, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: cursor channel regs") \
KERNEL_XID(118, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: head regs") \
KERNEL_XID(119, MACHINE, DRAIN, GPU_RESET_REQUIRED, "RESET_GPU", "GSP RPC timeout") \
KERNEL_XID(120, MACHINE, DRAIN, GPU_RESET_REQUIRED, "RESET_GPU", "GSP error") \
KERNEL_XID(121, MACHINE, WARN, GPU_DRIVER_ERROR, "IGNORE", "C2C error") \
KERNEL_XID(122, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: spi pmu rpc read fail") \
KERNEL_XID(123, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: spi pmu rpc write fail") \
KERNEL_XID(124, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: spi pmu rpc erase fail") \
KERNEL_XID(125, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: inforom fs error") \
KERNEL_XID(126, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "CE10: unknown error") \
KERNEL_XID(127, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "CE11: unknown error") \
KERNEL_XID(128, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "CE12: unknown error") \
KERNEL_XID(129, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "CE13: unknown error") \
KERNEL_XID(130, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "CE14: unknown error") \
KERNEL_XID(131, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "CE15: unknown error") \
KERNEL_XID(132, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "CE16: unknown error") \
KERNEL_XID(133, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "CE17: unknown error") \
KERNEL_XID(134, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "CE18: unknown error") \
KERNEL_XID(135, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "CE19: unknown error") \
KERNEL_XID(136, MACHINE, WARN, GPU_LINK_ERRORS, "RESET_GPU", "link training failed") \
KERNEL_XID(137, MACHINE, IGNORE, GPU_DRIVER_ERROR, "IGNORE", "NVLink privilege error") \
KERNEL_XID(138, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "unused since Ampere: dla error") \
KERNEL_XID(139, JOB, WARN, APPLICATION_FAULT, "RESTART_APP", "OFA1 error") \
KERNEL_XID(140, MACHINE, DRAIN, GPU_MEMORY_ERRORS, "RESET_GPU", "ECC unrecovered error") \
KERNEL_XID(141, MACHINE, IGNORE, GPU_DRIVER_ERROR, "IGNORE", "CUDA fast path error") \
KERNEL_XID(142, MACHINE, WARN, GPU_DRIVER_ERROR, "CONTACT_SUPPORT", "NVENC3 error") \
KERNEL_XID(143, MACHINE, DRAIN, GPU_RESET_REQUIRED, "RESET_GPU", "GPU initialization error") \
KERNEL_XID_TEXT(144, "* Nonfatal ", MACHINE, IGNORE, GPU_LINK_ERRORS, "WORKFLOW_NVLINK5_ERR", "NVLink SAW error, not fatal") \
KERNEL_XID(144, MACHINE, WARN, GPU_LINK_ERRORS, "WORKFLOW_NVLINK5_ERR", "NVLink SAW error, fatal") \
KERNEL_XID_TEXT(145, "* Nonfatal ", MACHINE, IGNORE, GPU_LINK_ERRORS, "WORKFLOW_NVLINK5_ERR", "NVLink RLW error, not fatal") \
KERNEL_XID(145, MACHINE, WARN, GPU_LINK_ERRORS, "WORKFLOW_NVLINK5_ERR", "NVLink RLW error, fatal") \
KERNEL_XID_TEXT(146, "* Nonfatal ", MACHINE, IGNORE, GPU_LINK_ERRORS, "WORKFLOW_NVLINK5_ERR", "NVLink TLW error, not fatal") \
KERNEL_XID(146, MACHINE, WARN, GPU_LINK_ERRORS, "WORKFLOW_NVLINK5_ERR", "NVLink TLW error, fatal") \
KERNEL_XID_TEXT(147, "* Nonfatal ", MACHINE, IGNORE, GPU_LINK_ERRORS, "WORKFLOW_NVLINK5_ERR", "NVLink TREX error, not fatal") \
KERNEL_XID(147, MACHINE, WARN, GPU_LINK_ERRORS, "WORKFLOW_NVLINK5_ERR", "NVLink TREX error, fatal") \
KERNEL_XID_TEXT(148, "* Nonfatal ", MACHINE, IGNORE, GPU_LINK_ERRORS, "WORKFLOW_NVLINK5_ERR", "NVLink NVLPW_CTRL error, not fatal") \
KERNEL_XID(148, MACHINE, WARN, GPU_LINK_ERRORS, "WORKFLOW_NVLINK5_ERR", "NVLink NVLPW_CTRL error, fatal") \
KERNEL_XID_TEXT(149, "* Nonfatal ", MACHINE, IGNORE, GPU_LINK_ERRORS, "WORKFLOW_NVLINK5_ERR", "NVLink NETIR error, not fatal") \
KERNEL_XID(149, MACHINE, WARN, GPU_LINK_ERRORS, "WORKFLOW_NVLINK5_ERR", "NVLink NETIR error, fatal") \
KERNEL_XID_TEXT(150, "* Nonfatal ", MACHINE, IGNORE, GPU_LINK_ERRORS, "WORKFLOW_NVLINK5_ERR", "NVLink MSE error, not fatal") \
KERNEL_XID(150, MACHINE, WARN, GPU_LINK_ERRORS, "WORKFLOW_NVLINK5_ERR", "NVLink MSE error, fatal") \
KERNEL_XID(151, MACHINE, WARN, GPU_DRIVER_ERROR, "RESTART_VM", "key rotation error") \
KERNEL_XID(152, MACHINE, IGNORE, GPU_DRIVER_ERROR, "IGNORE", "DLA SMMU error") \
KERNEL_XID(153, MACHINE, IGNORE, GPU_DRIVER_ERROR, "IGNORE", "DLA timeout error") \
KERNEL_XID_END(154, "*GPU recovery action changed from * to 0x0 (", "XID_154", "the driver asks for no recovery any more", "46 48 62 74 95 109 110 119 120 140 143 154 155 156 158") \
KERNEL_XID_TEXT(154, "*GPU recovery action changed from * to 0x2 (", MACHINE, DRAIN, GPU_REBOOT_REQUIRED, "XID_154", "the driver asks for a reboot of the node") \
KERNEL_XID_TEXT(154, "*GPU recovery action changed from * to 0x5 (", MACHINE, WARN, GPU_FABRIC_DOWN, "XID_154", "the driver asks for a restart of IMEX") \
KERNEL_XID_TEXT(154, "*GPU recovery action changed from * to 0x1 (", MACHINE, DRAIN, GPU_RESET_REQUIRED, "XID_154", "the driver asks for a reset of the GPU") \
KERNEL_XID_TEXT(154, "*GPU recovery action changed from * to 0x3 (", MACHINE, DRAIN, GPU_RESET_REQUIRED, "XID_154", "the driver asks for a reset of the GPU") \
KERNEL_XID_TEXT(154, "*GPU recovery action changed from * to 0x4 (", MACHINE, DRAIN, GPU_RESET_REQUIRED, "XID_154", "the driver asks for a reset of the GPU") \
KERNEL_XID(154, MACHINE, WARN, GPU_DRIVER_ERROR, "XID_154", "the recovery action that the driver asks for has changed") \
KERNEL_XID(155, MACHINE, WARN, GPU_LINK_ERRORS, "RESET_GPU", "NVLink: SW defined error") \
KERNEL_XID(156, MACHINE, WARN, GPU_ROW_REMAP_PENDING, "RESET_GPU", "resource retirement event") \
KERNEL_XID(157, MACHINE, WARN, GPU_ROW_REMAP_FAILED, "IGNORE", "resource retirement failure") \
KERNEL_XID(158, MACHINE, DRAIN, GPU_RESET_REQUIRED, "RESET_GPU", "GPU fatal timeout") \
KERNEL_XID_FOLLOWS(159, MACHINE, WARN, GPU_DRIVER_ERROR, "CHECK_UVM", "CHI non-data error") \
KERNEL_XID(160, MACHINE, WARN, GPU_DRIVER_ERROR, "IGNORE", "channel retirement event") \
KERNEL_XID(161, MACHINE, WARN, GPU_DRIVER_ERROR, "IGNORE", "channel retirement failure") \
KERNEL_XID_END(162, "", "none", "power smoothing is engaged again", "163") \
KERNEL_XID(163, MACHINE, WARN, GPU_DRIVER_ERROR, "none", "power smoothing is disengaged") \
KERNEL_XID(164, MACHINE, WARN, GPU_DRIVER_ERROR, "none", "the circuit of power smoothing is near its end of life") \
KERNEL_XID(165, MACHINE, WARN, GPU_DRIVER_ERROR, "none", "the circuit of power smoothing is at its end of life") \
KERNEL_XID(166, MACHINE, WARN, GPU_DRIVER_ERROR, "none", "traffic before encryption was set up") \
KERNEL_XID(167, MACHINE, WARN, GPU_DRIVER_ERROR, "none", "PCIe fatal timeout") \
KERNEL_XID(168, MACHINE, WARN, GPU_DRIVER_ERROR, "none", "reduced memory capacity") \
KERNEL_XID(169, MACHINE, WARN, GPU_DRIVER_ERROR, "none", "a micro-controller (SEC2) halted") \
KERNEL_XID(170, MACHINE, WARN, GPU_DRIVER_ERROR, "none", "interrupt in confidential computing mode") \
KERNEL_XID_FOLLOWS(171, MACHINE, WARN, GPU_MEMORY_ERRORS, "none", "uncorrectable DRAM error") \
KERNEL_XID_FOLLOWS(172, MACHINE, WARN, GPU_MEMORY_ERRORS, "none", "uncorrectable SRAM error")

#define KERNEL_SXID_TABLE \
KERNEL_SXID(10001, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "host priv error") \
KERNEL_SXID(10002, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "host priv timeout") \
KERNEL_SXID(10003, MACHINE, DRAIN, GPU_SWITCH_FAILED, "always fatal", "host unhandled interrupt") \
KERNEL_SXID(10004, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "host thermal event start") \
KERNEL_SXID(10005, MACHINE, IGNORE, GPU_SWITCH_ERRORS, "no impact", "host thermal event end") \
KERNEL_SXID(11001, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "ingress invalid command") \
KERNEL_SXID(11004, MACHINE, WARN, GPU_SWITCH_ERRORS, "not fatal", "ingress invalid ACL") \
KERNEL_SXID(11009, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "ingress invalid VCSet") \
KERNEL_SXID(11012, MACHINE, IGNORE, GPU_SWITCH_ERRORS, "no impact", "single bit ECC errors") \
KERNEL_SXID(11013, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "ingress header DBE") \
KERNEL_SXID(11018, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "ingress RID DBE") \
KERNEL_SXID(11019, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "ingress RLAN DBE") \
KERNEL_SXID(11020, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "ingress control parity") \
KERNEL_SXID(11021, MACHINE, IGNORE, GPU_SWITCH_ERRORS, "no impact", "single bit ECC errors") \
KERNEL_SXID(11022, MACHINE, IGNORE, GPU_SWITCH_ERRORS, "no impact", "single bit ECC errors") \
KERNEL_SXID(11023, MACHINE, IGNORE, GPU_SWITCH_ERRORS, "no impact", "single bit ECC errors") \
KERNEL_SXID(12001, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "egress crossbar overflow") \
KERNEL_SXID(12002, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "egress packet route") \
KERNEL_SXID(12020, MACHINE, DRAIN, GPU_SWITCH_FAILED, "always fatal", "egress sequence ID error") \
KERNEL_SXID(12021, MACHINE, IGNORE, GPU_SWITCH_ERRORS, "no impact", "single bit ECC errors") \
KERNEL_SXID(12022, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "egress input ECC DBE error") \
KERNEL_SXID(12023, MACHINE, IGNORE, GPU_SWITCH_ERRORS, "no impact", "single bit ECC errors") \
KERNEL_SXID(12024, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "egress output ECC DBE error") \
KERNEL_SXID(12025, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "egress credit overflow") \
KERNEL_SXID(12026, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "egress destination request ID error") \
KERNEL_SXID(12027, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "egress destination response ID error") \
KERNEL_SXID(12028, MACHINE, WARN, GPU_SWITCH_ERRORS, "not fatal", "egress nonposted PRIV error") \
KERNEL_SXID(12030, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "egress control parity error") \
KERNEL_SXID(12031, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "egress credit parity error") \
KERNEL_SXID(12032, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "egress flit type mismatch") \
KERNEL_SXID(14017, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "TS ATO timeout") \
KERNEL_SXID(15001, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "route buffer over/underflow") \
KERNEL_SXID(15006, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "route transdone over/underflow") \
KERNEL_SXID(15008, MACHINE, IGNORE, GPU_SWITCH_ERRORS, "no impact", "single bit ECC errors") \
KERNEL_SXID(15009, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "route GLT DBE") \
KERNEL_SXID(15010, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "route parity") \
KERNEL_SXID(15011, MACHINE, IGNORE, GPU_SWITCH_ERRORS, "no impact", "single bit ECC errors") \
KERNEL_SXID(15012, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "route incoming DBE") \
KERNEL_SXID(15013, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "route credit parity") \
KERNEL_SXID(19047, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "NCISOC HDR ECC DBE error") \
KERNEL_SXID(19048, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "NCISOC DAT ECC DBE error") \
KERNEL_SXID(19049, MACHINE, IGNORE, GPU_SWITCH_ERRORS, "no impact", "single bit ECC errors") \
KERNEL_SXID(19054, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "HDR RAM ECC DBE error") \
KERNEL_SXID(19055, MACHINE, IGNORE, GPU_SWITCH_ERRORS, "no impact", "single bit ECC errors") \
KERNEL_SXID(19056, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "DAT0 RAM ECC DBE error") \
KERNEL_SXID(19057, MACHINE, IGNORE, GPU_SWITCH_ERRORS, "no impact", "single bit ECC errors") \
KERNEL_SXID(19058, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "DAT1 RAM ECC DBE error") \
KERNEL_SXID(19059, MACHINE, IGNORE, GPU_SWITCH_ERRORS, "no impact", "single bit ECC errors") \
KERNEL_SXID(19060, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "CREQ RAM HDR ECC DBE error") \
KERNEL_SXID(19061, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "CREQ RAM DAT ECC DBE error") \
KERNEL_SXID(19062, MACHINE, IGNORE, GPU_SWITCH_ERRORS, "no impact", "single bit ECC errors") \
KERNEL_SXID(19063, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "response RAM HDR ECC DBE error") \
KERNEL_SXID(19064, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "response RAM DAT ECC DBE error") \
KERNEL_SXID(19065, MACHINE, IGNORE, GPU_SWITCH_ERRORS, "no impact", "single bit ECC errors") \
KERNEL_SXID(19066, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "COM RAM HDR ECC DBE error") \
KERNEL_SXID(19067, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "COM RAM DAT ECC DBE error") \
KERNEL_SXID(19068, MACHINE, IGNORE, GPU_SWITCH_ERRORS, "no impact", "single bit ECC errors") \
KERNEL_SXID(19069, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "RSP1 RAM HDR ECC DBE error") \
KERNEL_SXID(19070, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "RSP1 RAM DAT ECC DBE error") \
KERNEL_SXID(19071, MACHINE, IGNORE, GPU_SWITCH_ERRORS, "no impact", "single bit ECC errors") \
KERNEL_SXID(19084, MACHINE, WARN, GPU_SWITCH_ERRORS, "not fatal", "AN1 heartbeat timeout error") \
KERNEL_SXID(20001, MACHINE, WARN, GPU_SWITCH_ERRORS, "not fatal", "TX replay error") \
KERNEL_SXID(20009, MACHINE, WARN, GPU_SWITCH_ERRORS, "not fatal", "RX short error rate") \
KERNEL_SXID(20012, MACHINE, WARN, GPU_SWITCH_ERRORS, "not fatal", "broken/inconsistent connection") \
KERNEL_SXID(20034, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "LTSSM fault up") \
KERNEL_SXID(22003, MACHINE, DRAIN, GPU_SWITCH_FAILED, "always fatal", "minion halt") \
KERNEL_SXID(22011, MACHINE, DRAIN, GPU_SWITCH_FAILED, "always fatal", "minion exterror") \
KERNEL_SXID(22012, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "minion link NA interrupt") \
KERNEL_SXID(22013, MACHINE, IGNORE, GPU_SWITCH_ERRORS, "no impact", "minion link DLREQ interrupt") \
KERNEL_SXID(23001, MACHINE, DRAIN, GPU_SWITCH_FAILED, "always fatal", "ingress SRC-VC buffer overflow") \
KERNEL_SXID(23002, MACHINE, DRAIN, GPU_SWITCH_FAILED, "always fatal", "ingress SRC-VC buffer underflow") \
KERNEL_SXID(23003, MACHINE, DRAIN, GPU_SWITCH_FAILED, "always fatal", "egress DST-VC credit overflow") \
KERNEL_SXID(23004, MACHINE, DRAIN, GPU_SWITCH_FAILED, "always fatal", "egress DST-VC credit underflow") \
KERNEL_SXID(23005, MACHINE, DRAIN, GPU_SWITCH_FAILED, "always fatal", "ingress packet burst error") \
KERNEL_SXID(23006, MACHINE, DRAIN, GPU_SWITCH_FAILED, "always fatal", "ingress packet sticky error") \
KERNEL_SXID(23007, MACHINE, DRAIN, GPU_SWITCH_FAILED, "always fatal", "possible bubbles at ingress") \
KERNEL_SXID(23008, MACHINE, DRAIN, GPU_SWITCH_FAILED, "always fatal", "ingress packet invalid dst error") \
KERNEL_SXID(23009, MACHINE, DRAIN, GPU_SWITCH_FAILED, "always fatal", "ingress packet parity error") \
KERNEL_SXID(23010, MACHINE, DRAIN, GPU_SWITCH_FAILED, "always fatal", "ingress SRC-VC buffer overflow") \
KERNEL_SXID(23011, MACHINE, DRAIN, GPU_SWITCH_FAILED, "always fatal", "ingress SRC-VC buffer underflow") \
KERNEL_SXID(23012, MACHINE, DRAIN, GPU_SWITCH_FAILED, "always fatal", "egress DST-VC credit overflow") \
KERNEL_SXID(23013, MACHINE, DRAIN, GPU_SWITCH_FAILED, "always fatal", "egress DST-VC credit underflow") \
KERNEL_SXID(23014, MACHINE, DRAIN, GPU_SWITCH_FAILED, "always fatal", "ingress packet burst error") \
KERNEL_SXID(23015, MACHINE, DRAIN, GPU_SWITCH_FAILED, "always fatal", "ingress packet sticky error") \
KERNEL_SXID(23016, MACHINE, DRAIN, GPU_SWITCH_FAILED, "always fatal", "possible bubbles at ingress") \
KERNEL_SXID(23017, MACHINE, DRAIN, GPU_SWITCH_FAILED, "always fatal", "ingress credit parity error") \
KERNEL_SXID(24001, MACHINE, IGNORE, GPU_SWITCH_ERRORS, "no impact", "single bit ECC errors") \
KERNEL_SXID(24002, MACHINE, IGNORE, GPU_SWITCH_ERRORS, "no impact", "single bit ECC errors") \
KERNEL_SXID(24003, MACHINE, IGNORE, GPU_SWITCH_ERRORS, "no impact", "single bit ECC errors") \
KERNEL_SXID(24004, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "sourcetrack TCEN0 crubmstore DBE") \
KERNEL_SXID(24005, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "sourcetrack TCEN0 TD crubmstore DBE") \
KERNEL_SXID(24006, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "sourcetrack TCEN1 crubmstore DBE") \
KERNEL_SXID(24007, MACHINE, WARN, GPU_SWITCH_ERRORS, "fatal", "sourcetrack timeout error")
/* clang-format on */

#endif
