/* What Windows' Python and Qt need of a Windows that Debian's wine lacks; wine_root.sh compiles each part.
 * FOR TESTS ONLY. */
#define API __declspec(dllexport)

#if defined(PYTHON) /* python.exe */
#include <windows.h>
typedef int (*main_function)(int, wchar_t **);
int wmain(int argc, wchar_t **argv) {
    HMODULE library = LoadLibraryW(L"python313.dll");
    return library ? ((main_function)GetProcAddress(library, "Py_Main"))(argc, argv) : 9;
}

#elif defined(PYTHON3) /* python3.dll, which only forwards to python313.dll */
int __stdcall DllMain(void *module, unsigned reason, void *reserved) { return 1; }

#elif defined(MSCMS) /* mscms.dll, colour management */
API void *OpenColorProfileW(void) { return 0; }
API int CloseColorProfile(void) { return 1; }
API void *WcsCreateIccProfile(void) { return 0; }
API int GetColorProfileFromHandle(void) { return 0; }

#elif defined(ICUUC) /* icuuc.dll, Windows' ICU */
#define STUB(name) API void *name(void) { return 0; }
API void *ucnv_open(const char *name, int *error) {
    if (error) *error = 4;
    return 0;
}
STUB(ucnv_close) STUB(UCNV_FROM_U_CALLBACK_SUBSTITUTE) STUB(UCNV_TO_U_CALLBACK_SUBSTITUTE) STUB(ucnv_reset)
STUB(ucnv_getMaxCharSize) STUB(ucnv_getName) STUB(ucnv_getToUCallBack) STUB(ucnv_getFromUCallBack)
STUB(ucnv_setToUCallBack) STUB(ucnv_setFromUCallBack) STUB(ucnv_cbToUWriteUChars) STUB(ucnv_toUnicode)
STUB(ucnv_cbFromUWriteUChars) STUB(ucnv_toUCountPending) STUB(ucnv_fromUCountPending) STUB(ucnv_getStandardName)
STUB(ucnv_getAvailableName) STUB(ucnv_countAvailable) STUB(ucnv_fromUnicode)
#endif
