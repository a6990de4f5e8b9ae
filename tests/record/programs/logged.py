# SPDX-License-Identifier: MIT
"""What programs log about a device through NVIDIA's management library."""

import ctypes

import torch

torch.zeros(1, device="cuda")
nvml = ctypes.CDLL("libnvidia-ml.so.1")
device = ctypes.c_void_p()
numbers = (ctypes.c_uint * 2)()
text = ctypes.create_string_buffer(80)
assert nvml.nvmlInit_v2() == 0
assert nvml.nvmlDeviceGetHandleByPciBusId(b"0000:02:00.0", ctypes.byref(device))
assert nvml.nvmlDeviceGetHandleByUUID(b"GPU-1", ctypes.byref(device)) == 6
assert not nvml.nvmlDeviceGetHandleByPciBusId(
    b"0000:01:00.0", ctypes.byref(device)
)
assert not nvml.nvmlDeviceGetUUID(device, text, 80)
assert not nvml.nvmlDeviceGetHandleByUUID(text, ctypes.byref(device))
assert not nvml.nvmlDeviceGetUtilizationRates(device, numbers)
print("busy", *numbers)
for name, *more in (
    ("Temperature", 0),
    ("PowerUsage",),
    ("EnforcedPowerLimit",),
    ("MaxClockInfo", 1),
    ("ClockInfo", 2),
    ("MemoryBusWidth",),
    ("MinorNumber",),
    ("ComputeRunningProcesses_v3",),
):
    call = getattr(nvml, f"nvmlDeviceGet{name}")
    if name.startswith("Compute"):
        more = [None]
        assert not call(device, numbers, *more)
    else:
        assert not call(device, *more, numbers)
    print(name, numbers[0])
memory = (ctypes.c_ulonglong * 5)()
assert not nvml.nvmlDeviceGetMemoryInfo_v2(device, memory)
free, total = torch.cuda.mem_get_info()
print("memory", memory[1] == total, memory[3] == free)
