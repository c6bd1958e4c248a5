// Classes of which Python never holds a null pointer or a half-made object.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <utility>

namespace dragonfly {

// pybind11 calls a member function through a pointer, which None makes null; a reference it checks.
template <class Class, class Result, class... Arguments>
auto by_reference(Result (Class::*member)(Arguments...)) {
  return [member](Class& self, Arguments... arguments) -> Result { return (self.*member)(arguments...); };
}
template <class Class, class Result, class... Arguments>
auto by_reference(Result (Class::*member)(Arguments...) const) {
  return
      [member](const Class& self, Arguments... arguments) -> Result { return (self.*member)(arguments...); };
}
template <class Class, class Result>
auto by_reference(Result (Class::*member)() const noexcept) {
  return [member](const Class& self) -> Result { return (self.*member)(); };
}
// Of a class that Python knows, a member that a base class has which it does not know.
template <class Class, class Base, class Result>
auto by_reference_of(Result (Base::*member)() const noexcept) {
  return [member](const Class& self) -> Result { return (self.*member)(); };
}

// pybind11 would let Python make an object without its C++ part (by `__new__`, or in a derived class that
// forgets `__init__`) and then read memory that nobody has written. A sealed class cannot be derived from,
// and its `__new__` is the factory: there is an object when that has succeeded, or none.
template <class Class>
Class seal(Class made_class) {
  auto* const type = reinterpret_cast<PyTypeObject*>(made_class.ptr());
  type->tp_new = [](PyTypeObject* self, PyObject* arguments, PyObject* keywords) -> PyObject* {
    PyObject* const make = PyObject_GetAttrString(reinterpret_cast<PyObject*>(self), "_make");
    if (make == nullptr) {
      PyErr_Format(PyExc_TypeError, "%s objects are not made by calling the class", self->tp_name);
      return nullptr;
    }
    PyObject* const made = PyObject_Call(make, arguments, keywords);
    Py_DECREF(make);
    return made;
  };
  type->tp_init = [](PyObject*, PyObject*, PyObject*) { return 0; };
  // Pickling with protocol 0 or 1 would call pybind11's own base class, which ends the process.
  const auto refuse = [](const pybind11::object& self, const pybind11::args&) -> pybind11::object {
    throw pybind11::type_error{"cannot pickle '" + std::string{Py_TYPE(self.ptr())->tp_name} + "' object"};
  };
  made_class.def("__reduce__", refuse);
  made_class.def("__reduce_ex__", refuse);
  PyType_Modified(type);
  return made_class;
}

// A sealed class without constructor: its objects come from functions.
template <class Type, template <class...> class Binding = pybind11::class_>
Binding<Type> sealed_class(pybind11::module_& module, const char* name, const char* doc = "") {
  return seal(Binding<Type>(module, name, doc, pybind11::is_final()));
}

// The constructor of a sealed class.
template <class Class, class Factory, class... Extra>
void make_by(Class& made_class, Factory&& factory, const Extra&... extra) {
  made_class.def_static("_make", std::forward<Factory>(factory), extra...);
}

}  // namespace dragonfly
