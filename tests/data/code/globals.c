// Global variables whose initialisers hold addresses, a zeroed array and a variable of another object.
typedef unsigned int u32;
__attribute__((address_space(1), visibility("protected"))) u32 table[4] = {1, 2, 3, 4};
__attribute__((address_space(1), visibility("default"))) u32 shared_counter = 7;
extern __attribute__((address_space(1), visibility("default"))) u32 elsewhere;
extern __attribute__((address_space(1), visibility("default"), weak)) u32 perhaps;
__attribute__((address_space(1), visibility("protected"))) u32 zeros[3000];
typedef __attribute__((address_space(1))) u32 *pointer;
// R_AMDGPU_RELATIVE64 with addend, R_AMDGPU_ABS64 to this object, to another, to a weak one.
__attribute__((address_space(1), visibility("protected"))) pointer into_table = table + 2;
__attribute__((address_space(1), visibility("protected"))) pointer counter = &shared_counter;
__attribute__((address_space(1), visibility("protected"))) pointer other = &elsewhere + 5;
__attribute__((address_space(1), visibility("protected"))) pointer maybe = &perhaps;

__attribute__((amdgpu_kernel, visibility("protected"))) void gather(pointer out) {
    u32 i = __builtin_amdgcn_workitem_id_x();
    out[i] = *into_table + *counter + zeros[i];
}
