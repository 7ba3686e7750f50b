; The Windows installer: for the user who starts it, without administrator rights. Compiled by `packaging/build.py nsis`,
; which defines the files to pack and their names.
;
;   /S            no questions          /PATH=off     leave the PATH alone
;   /D=FOLDER     target folder (last)       /LOGIN=on     start PlantDesk at login
;
; Exit codes: 0 done, 2 cancelled or failed, 3 this Windows is too old, 4 PlantDesk is running, 5 files are in use,
; 6 the folder holds another program.

Unicode true
ManifestDPIAware true
ManifestSupportedOS all
RequestExecutionLevel user
!ifdef QUICK ; for tests
  SetCompress off
!else
  SetCompressor /SOLID lzma
!endif
SetDatablockOptimize on
SetDateSave off ; the same files make the same installer

!include LogicLib.nsh
!include FileFunc.nsh
!include MUI2.nsh
!include WinVer.nsh
!include x64.nsh
!include "${PAYLOAD_LIST}" ; the packed files by name, so that the uninstaller removes nothing else

!define UNINSTALL_KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\PlantDesk"
!define APP_PATHS_KEY "Software\Microsoft\Windows\CurrentVersion\App Paths"
!define SCHEME_KEY "Software\Classes\plantdesk"
!define RUN_KEY "Software\Microsoft\Windows\CurrentVersion\Run"
!define RUNNING_MUTEX "Local\PlantDesk-running" ; as in plantdesk/platform/windows.py
!define SYNCHRONIZE 0x00100000

Name "PlantDesk"
OutFile "${OUT}"
BrandingText "PlantDesk ${VERSION}"
InstallDir "$LOCALAPPDATA\Programs\PlantDesk"
InstallDirRegKey HKCU "${UNINSTALL_KEY}" "InstallLocation"

VIProductVersion "${VERSION}.0"
VIFileVersion "${VERSION}.0"
VIAddVersionKey "ProductName" "PlantDesk"
VIAddVersionKey "ProductVersion" "${VERSION}"
VIAddVersionKey "FileVersion" "${VERSION}"
VIAddVersionKey "FileDescription" "PlantDesk installer"
VIAddVersionKey "CompanyName" "${PUBLISHER}"
VIAddVersionKey "LegalCopyright" "${COPYRIGHT}"

!ifdef SIGN ; the script that signs; it reads the command from the environment
  !finalize '"${PYTHON}" "${SIGN}" "%1"' = 0
  !uninstfinalize '"${PYTHON}" "${SIGN}" "%1"' = 0
!endif

!define MUI_ICON "${ICON}"
!define MUI_UNICON "${ICON}"
!define MUI_ABORTWARNING
!define MUI_COMPONENTSPAGE_SMALLDESC
!define MUI_FINISHPAGE_RUN
!define MUI_FINISHPAGE_RUN_FUNCTION start_as_user
!define MUI_FINISHPAGE_NOREBOOTSUPPORT
!insertmacro MUI_PAGE_COMPONENTS
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"

; Leave with 4 while any PlantDesk holds its mutex: files in use cannot be replaced, and half an upgrade is worse than none.
!macro refuse_while_running
  ${Do}
    System::Call 'kernel32::OpenMutexW(i ${SYNCHRONIZE}, i 0, w "${RUNNING_MUTEX}") p .r0'
    ${If} $0 P= 0
      ${ExitDo}
    ${EndIf}
    System::Call 'kernel32::CloseHandle(p r0)'
    MessageBox MB_RETRYCANCEL|MB_ICONEXCLAMATION \
      "PlantDesk is running. Close it, and end “plantdesk serve” if you use it; then try again." \
      /SD IDCANCEL IDRETRY +3
    SetErrorLevel 4
    Quit
  ${Loop}
!macroend

Section "PlantDesk" program
  SectionIn RO
  ; Other programs have a folder of this name as well, and the user may have chosen theirs.
  ${If} ${FileExists} "$INSTDIR\_internal\*.*"
  ${AndIfNot} ${FileExists} "$INSTDIR\plantdesk.exe"
    MessageBox MB_OK|MB_ICONSTOP "$INSTDIR holds another program. Start this installer again and choose another folder." /SD IDOK
    SetErrorLevel 6
    Quit
  ${EndIf}
  ; The newer version would import modules that an older one left.
  RMDir /r "$INSTDIR\_internal"
  ${If} ${FileExists} "$INSTDIR\_internal\*.*"
    MessageBox MB_OK|MB_ICONSTOP "Files in $INSTDIR are in use. Restart Windows, then start this installer again." /SD IDOK
    SetErrorLevel 5
    Quit
  ${EndIf}
  SetOutPath "$INSTDIR"
  ClearErrors
  !insertmacro pack_payload
  WriteUninstaller "$INSTDIR\uninstall.exe"
  ${If} ${Errors}
    MessageBox MB_OK|MB_ICONSTOP "Not all files could be written to $INSTDIR. PlantDesk is incomplete." /SD IDOK
    SetErrorLevel 5
    Quit
  ${EndIf}

  CreateShortcut "$SMPROGRAMS\PlantDesk.lnk" "$INSTDIR\plantdeskw.exe"
  WriteRegStr HKCU "${APP_PATHS_KEY}\plantdesk.exe" "" "$INSTDIR\plantdesk.exe"
  WriteRegStr HKCU "${APP_PATHS_KEY}\plantdeskw.exe" "" "$INSTDIR\plantdeskw.exe"
  WriteRegStr HKCU "${SCHEME_KEY}" "" "URL:PlantDesk"
  WriteRegStr HKCU "${SCHEME_KEY}" "URL Protocol" ""
  WriteRegStr HKCU "${SCHEME_KEY}\DefaultIcon" "" "$INSTDIR\plantdeskw.exe"
  WriteRegStr HKCU "${SCHEME_KEY}\shell\open\command" "" '"$INSTDIR\plantdeskw.exe" "%1"'
  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayName" "PlantDesk"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayIcon" "$INSTDIR\plantdeskw.exe"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "Publisher" "${PUBLISHER}"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "URLInfoAbout" "${HOME_PAGE}"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "InstallLocation" "$INSTDIR"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKCU "${UNINSTALL_KEY}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegDWORD HKCU "${UNINSTALL_KEY}" "EstimatedSize" ${SIZE_KB}
  WriteRegDWORD HKCU "${UNINSTALL_KEY}" "NoModify" 1
  WriteRegDWORD HKCU "${UNINSTALL_KEY}" "NoRepair" 1
SectionEnd

; PlantDesk itself changes the PATH: a string of this installer ends at 1024 characters and would cut a long one off.
Section "Find plantdesk in terminals" path
  nsExec::Exec /TIMEOUT=60000 '"$INSTDIR\plantdesk.exe" integration --path on'
  Pop $0
SectionEnd

Section /o "Start at login" login
  nsExec::Exec /TIMEOUT=60000 '"$INSTDIR\plantdesk.exe" integration --login on'
  Pop $0
SectionEnd

Section "-remember"
  ${If} ${SectionIsSelected} ${path}
    WriteRegDWORD HKCU "${UNINSTALL_KEY}" "OnPath" 1
  ${Else}
    WriteRegDWORD HKCU "${UNINSTALL_KEY}" "OnPath" 0
  ${EndIf}
SectionEnd

!insertmacro MUI_FUNCTION_DESCRIPTION_BEGIN
  !insertmacro MUI_DESCRIPTION_TEXT ${program} "The window and the commands. Your plants are kept elsewhere and never touched."
  !insertmacro MUI_DESCRIPTION_TEXT ${path} "Lets you type “plantdesk” in a new terminal."
  !insertmacro MUI_DESCRIPTION_TEXT ${login} "Opens the window minimised when you log in, with the API on."
!insertmacro MUI_FUNCTION_DESCRIPTION_END

Function .onInit
  ${IfNot} ${AtLeastWin10}
  ${OrIfNot} ${RunningX64}
    MessageBox MB_OK|MB_ICONSTOP "PlantDesk needs Windows 10 or newer, of 64 bits." /SD IDOK
    SetErrorLevel 3
    Quit
  ${EndIf}
  !insertmacro refuse_while_running
  ; An upgrade keeps the earlier choice.
  ClearErrors
  ReadRegDWORD $1 HKCU "${UNINSTALL_KEY}" "OnPath"
  ${IfNot} ${Errors}
  ${AndIf} $1 = 0
    !insertmacro UnselectSection ${path}
  ${EndIf}
  ${GetParameters} $0
  ClearErrors
  ${GetOptions} $0 "/PATH=" $1
  ${If} $1 == "off"
    !insertmacro UnselectSection ${path}
  ${EndIf}
  ClearErrors
  ${GetOptions} $0 "/LOGIN=" $1
  ${If} $1 == "on"
    !insertmacro SelectSection ${login}
  ${EndIf}
FunctionEnd

Function start_as_user
  ; By the desktop's shell: with its rights and environment, not the installer's.
  Exec '"$WINDIR\explorer.exe" "$INSTDIR\plantdeskw.exe"'
FunctionEnd

Function un.onInit
  !insertmacro refuse_while_running
FunctionEnd

Section "Uninstall"
  nsExec::Exec /TIMEOUT=60000 '"$INSTDIR\plantdesk.exe" integration --login off --path off'
  Pop $0
  DeleteRegValue HKCU "${RUN_KEY}" "PlantDesk" ; also if the program no longer starts
  Delete "$SMPROGRAMS\PlantDesk.lnk"
  ; By name only: the user may have chosen a folder that holds other things.
  !insertmacro remove_payload
  Delete "$INSTDIR\uninstall.exe"
  RMDir "$INSTDIR"
  DeleteRegKey HKCU "${APP_PATHS_KEY}\plantdesk.exe"
  DeleteRegKey HKCU "${APP_PATHS_KEY}\plantdeskw.exe"
  DeleteRegKey HKCU "${SCHEME_KEY}"
  DeleteRegKey HKCU "${UNINSTALL_KEY}"
  DetailPrint "Your plants stay in $LOCALAPPDATA\PlantDesk"
SectionEnd
