# SPDX-License-Identifier: MIT
"""What memory is for: which module runs, what its parameters and buffers are,
and an optimizer's gradients and states.

Tensors are looked at but not held, so that PyTorch allocates the same as
without this. Modules are called through a function of this file, not by hooks:
with hooks PyTorch calls all modules in another way, and torch.compile warns.
"""

import atexit
import contextlib
import ctypes
import functools
import sys
import weakref

import torch
from torch.optim.optimizer import (
    Optimizer,
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

calls = ctypes.PyDLL(None)  # holds the GIL during calls: no other thread runs
address, text, number = ctypes.c_uint64, ctypes.c_char_p, ctypes.c_int
calls.simcuda_owner_module.argtypes = text, text
calls.simcuda_owner_is.argtypes = address, ctypes.c_uint64, text, number
calls.simcuda_owner_of.argtypes = (address,)
enter, leave = calls.simcuda_owner_enter, calls.simcuda_owner_leave
NO_MODULE, NO_PARAMETER = -1, -2

Module = torch.nn.Module
is_compiling = torch.compiler.is_compiling
untouched = torch._C.DisableTorchFunction

# ---- names ----

known = {}  # by id: a weak reference and the module's number
names = {}  # by path: a weak reference and the number


def number_of(module):
    found = known.get(id(module))
    if found is None or found[0]() is not module:
        calls.simcuda_collector_stop()
        name_all(module)
        calls.simcuda_collector_go_on()
        found = known[id(module)]
    return found[1]


def is_free(path, module):
    return path not in names or names[path][0]() in (None, module)


def own_path(path, module):
    count = 1
    name = path
    while not is_free(name, module):
        count += 1
        name = f"{path}#{count}"
    return name


def name_one(module, path):
    kind = type(module).__name__
    if path not in names or names[path][2] != kind:
        number = calls.simcuda_owner_module(path.encode(), kind.encode())
    else:
        number = names[path][1]
    before = known.get(id(module))
    if before is None or before[0]() is not module:
        calls.simcuda_owner_rename(NO_MODULE, number)
    elif before[1] != number:
        calls.simcuda_owner_rename(before[1], number)
    names[path] = weakref.ref(module), number, kind
    known[id(module)] = names[path]


def name_all(root):
    """Names a root module after its class, and the modules in it by their
    paths. A root is a module that no other module has called."""
    kind = type(root).__name__
    title = own_path(kind, root)
    name_one(root, title)
    for path, module in root.named_modules():
        if module is root:
            continue
        if not is_free(path, module):
            path = own_path(f"{title}.{path}", module)
        name_one(module, path)


# ---- tensors ----


def pieces(tensor):
    """The tensors that a tensor consists of. Since PyTorch 2.13 a sharded one
    also includes its mesh."""
    flatten = getattr(tensor, "__tensor_flatten__", None)
    if flatten is None:
        return dense(tensor) if isinstance(tensor, torch.Tensor) else []
    return [p for name in flatten()[0] for p in pieces(getattr(tensor, name))]


def dense(tensor):
    """A sparse tensor has no storage of its own."""
    if tensor.layout is torch.strided:
        return [tensor]
    if tensor.layout is torch.sparse_coo:
        return [tensor._indices(), tensor._values()]
    return []


def storage_of(tensor):
    """The tensor's address. A storage object would live as long as the storage,
    and would count among the objects that make Python collect garbage."""
    begin = tensor.storage_offset() * tensor.element_size()
    return tensor.data_ptr() - begin if tensor.numel() else 0


def own(tensor, category, module):
    for piece in pieces(tensor):
        if piece.is_cuda:
            calls.simcuda_owner_is(
                storage_of(piece), piece.nbytes, category, module
            )


def own_all(module, number):
    with contextlib.suppress(Exception), untouched():
        for tensor in module._parameters.values():
            if tensor is not None:
                own(tensor, b"parameter", number)
        for tensor in module._buffers.values():
            if tensor is not None:
                own(tensor, b"buffer", number)


# ---- modules ----


def call_as(call):
    def __call__(self, *args, **kwargs):
        if is_compiling():
            return call(self, *args, **kwargs)
        number = number_of(self)
        enter(0, number)
        try:
            return call(self, *args, **kwargs)
        finally:
            own_all(self, number)
            leave(0)

    return __call__


def apply_as(apply):
    def _apply(self, *args, **kwargs):
        number = number_of(self)
        try:
            return apply(self, *args, **kwargs)
        finally:
            own_all(self, number)

    return _apply


def copied_as(set_state):
    """Copying and loading a module do not call the registration hooks."""

    def __setstate__(self, state):
        set_state(self, state)
        own_all(self, NO_MODULE)

    return __setstate__


def replicated_as(replicate):
    """Replicas of DataParallel count as the module itself, whichever thread
    runs first; the module itself is not called."""

    def _replicate_for_data_parallel(self):
        replica = replicate(self)
        number = number_of(self)
        known[id(replica)] = weakref.ref(replica), number
        own_all(self, number)
        return replica

    return _replicate_for_data_parallel


def watch_modules():
    call, apply = Module.__call__, Module._apply
    Module._replicate_for_data_parallel = replicated_as(
        Module._replicate_for_data_parallel
    )
    Module.__setstate__ = copied_as(Module.__setstate__)
    # A module may be on its way to the device when it is first used.
    frame = sys._getframe()
    root = None
    while frame:
        if frame.f_code is apply.__code__:
            root = frame.f_locals["self"]
        frame = frame.f_back
    if root is not None:
        name_all(root)
    Module.__call__, Module._apply = call_as(call), apply_as(apply)
    for function, original in (Module.__call__, call), (Module._apply, apply):
        # torch.compile checks the name and the file: a function that it does
        # not recognize is compiled together with all others of its kind.
        function.__name__ = original.__name__
        function.__code__ = function.__code__.replace(
            co_filename=original.__code__.co_filename
        )
    # torch.compile recognizes modules that are called in the usual way.
    for name in "torch._dynamo.utils", "torch._dynamo.variables.nn_module":
        compiler = sys.modules.get(name)
        if getattr(compiler, "unpatched_nn_module_call", None) is call:
            compiler.unpatched_nn_module_call = Module.__call__


def watch_parameters():
    def registered(category):
        def hook(module, name, tensor):
            if tensor is None or is_compiling():
                return
            found = known.get(id(module))
            number = NO_MODULE
            if found is not None and found[0]() is module:
                number = found[1]
            with contextlib.suppress(Exception), untouched():
                own(tensor, category, number)

        return hook

    here = torch.nn.modules.module
    here.register_module_parameter_registration_hook(registered(b"parameter"))
    here.register_module_buffer_registration_hook(registered(b"buffer"))


# ---- optimizers ----


def own_gradient(parameter):
    """Returns the number of the parameter's module."""
    for piece in pieces(parameter):
        storage = storage_of(piece) if piece.is_cuda else 0
        module = calls.simcuda_owner_of(storage)
        if module == NO_PARAMETER:
            own(parameter, b"parameter", NO_MODULE)
            module = NO_MODULE
        if parameter.grad is not None:
            own(parameter.grad, b"gradient", module)
        return module
    return NO_MODULE


def own_state(state, module):
    if isinstance(state, torch.Tensor):
        own(state, b"optimizer_state", module)
    elif isinstance(state, dict):
        for value in state.values():
            own_state(value, module)
    elif isinstance(state, (list, tuple)):
        for value in state:
            own_state(value, module)


def own_groups(optimizer):
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            own_gradient(parameter)


def own_states(optimizer):
    for parameter, state in optimizer.state.items():
        module = NO_MODULE
        if isinstance(parameter, torch.Tensor):
            module = own_gradient(parameter)
        own_state(state, module)


def loaded_as(load):
    @functools.wraps(load)
    def load_state_dict(self, *args, **kwargs):
        result = load(self, *args, **kwargs)
        with contextlib.suppress(Exception), untouched():
            own_states(self)
        return result

    return load_state_dict


def zeroed_as(zero):
    """Gradients that no optimizer of PyTorch's sees, for example if the
    optimizer's parameters are copies on the host."""

    @functools.wraps(zero)
    def zero_grad(self, *args, **kwargs):
        if not is_compiling():
            with contextlib.suppress(Exception), untouched():
                for parameter in self.parameters():
                    own_gradient(parameter)
        return zero(self, *args, **kwargs)

    return zero_grad


stepping = {}  # by id: a weak reference to an optimizer whose step runs


def watch_optimizers():
    def before(optimizer, args, kwargs):
        if is_compiling():
            return
        with contextlib.suppress(Exception), untouched():
            own_groups(optimizer)
            stepping[id(optimizer)] = weakref.ref(optimizer)
        enter(1, NO_MODULE)

    def after(optimizer, args, kwargs):
        if is_compiling():
            return
        stepping.pop(id(optimizer), None)
        with contextlib.suppress(Exception), untouched():
            own_states(optimizer)
            if len(args) > 1 or kwargs:  # a closure computed gradients
                own_groups(optimizer)
        leave(1)

    register_optimizer_step_pre_hook(before)
    register_optimizer_step_post_hook(after)
    Optimizer.load_state_dict = loaded_as(Optimizer.load_state_dict)
    Module.zero_grad = zeroed_as(Module.zero_grad)


# ---- the end ----


def own_rest():
    """Names what is in no optimizer, the module that was on its way to the
    device at first use, and the states of a step that did not end because
    memory ran out."""
    with contextlib.suppress(Exception), untouched():
        for reference, number, *_ in list(known.values()):
            module = reference()
            if module is None:
                continue
            own_all(module, number)
            for parameter in module._parameters.values():
                if parameter is not None:
                    own_gradient(parameter)
        for reference in stepping.values():
            if reference() is not None:
                own_states(reference())


atexit.register(own_rest)
for watch in watch_modules, watch_parameters, watch_optimizers:
    try:
        watch()
    except Exception:
        pass
