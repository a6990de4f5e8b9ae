/* SPDX-License-Identifier: MIT */
/*
 * An engine in Python: mine.py.so is this file, and runs mine.py beside it,
 * whose table (gpupool_engine.py) is the engine's. Changes to mine.py take
 * effect with the next replay.
 *
 *	make mine.py.so
 *	gpupool replay snapshot.pickle --engine ./mine.py.so
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <string.h>

#include <gpupool/engine.h>

const struct gp_engine_table *gpupool_engine(void);

/* Makes Python's symbols global: its extension modules look for them there. */
static void show_python(void)
{
	Dl_info python;

	if (dladdr((void *)Py_InitializeEx, &python))
		dlopen(python.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
}

/* The path of this library without its .so; false: there is no such script. */
static int find_script(char path[PATH_MAX])
{
	Dl_info own;
	size_t length;

	if (!dladdr((void *)gpupool_engine, &own) ||
	    !realpath(own.dli_fname, path))
		return 0;
	length = strlen(path);
	if (length < 4 || strcmp(path + length - 3, ".so") != 0)
		return 0;
	path[length - 3] = 0;
	return 1;
}

static int run(const char *script)
{
	char folder[PATH_MAX];
	FILE *file = fopen(script, "r");
	PyObject *name;

	if (!file) {
		fprintf(stderr, "%s is not there\n", script);
		return 0;
	}
	strcpy(folder, script);
	name = PyUnicode_DecodeFSDefault(dirname(folder));
	PyList_Insert(PySys_GetObject("path"), 0, name);
	Py_XDECREF(name);
	return PyRun_SimpleFileEx(file, script, 1) == 0;
}

/* Reads the address that the script's `table` has. */
static const struct gp_engine_table *table_of_script(void)
{
	PyObject *module = PyImport_AddModule("__main__");
	PyObject *table = PyObject_GetAttrString(module, "table");
	void *address = table ? PyLong_AsVoidPtr(table) : NULL;

	if (PyErr_Occurred())
		PyErr_Print();
	return address;
}

__attribute__((visibility("default"))) const struct gp_engine_table *
gpupool_engine(void)
{
	char script[PATH_MAX];

	show_python();
	Py_InitializeEx(0);
	return find_script(script) && run(script) ? table_of_script() : NULL;
}
