"""What `plantdesk --help` prints, 80 columns wide. Made by `python3 packaging/dev.py texts`."""

HELP = """\
usage: plantdesk [-h] [-V] [--database FILE] [--port N] [--background]
                 COMMAND ...

Keep your plants in one place: in a window, from scripts over a local HTTP API, or by these commands.

options:
  -h, --help       show this help message and exit
  -V, --version    show program's version number and exit
  --database FILE  the database of plants (default: your own)
  --port N         the port of the API; 0: any free port (default: the port
                   set in the window, initially 8721)
  --background     start minimised or in the tray, as at login

commands:
  COMMAND
    add            add one plant and print its ID
    backup         back up all plants and print the path of the backup
    copy           copy a whole store to a new file or an empty database
    migrate        update a shared store to this version of PlantDesk, for all
                   its computers
    roles          print the SQL of three roles for the users of a shared
                   store; changes nothing
    help           show the help of a command, or a page of the manual
    info           show whether PlantDesk runs, its address and its database
    integration    show or set how the system starts PlantDesk
    openapi        print the OpenAPI 3.1 document of the HTTP API
    quick          open a small window to add one plant
    restore        restore the plants of a backup, after a preview
    selfcheck      report in JSON whether this installation is complete
    serve          run the HTTP API without a window, until SIGTERM or Ctrl+C
    token          create, list and revoke tokens, with which programs add
                   plants
    list           list plants, newest first
    get            show one plant
    edit           change name, tag or note of plants
    delete         delete plants; undo brings them back
    tag            list, rename, merge and remove tags
    duplicates     list plants that are alike but for case, accents, quotes
                   and blanks, or merge them
    merge          merge plants into another one, which gets the notes of all
    names          import or remove the list of known names, which are offered
                   while you type
    history        list the changes of plants, newest first
    undo           undo a change; again: the change before it
    redo           take back the latest undo
    watch          print each plant that is added, changed or deleted, until
                   Ctrl+C
    export         write plants to a file: CSV, TSV, JSON, JSON Lines or Excel
    labels         write labels of plants to a PDF file, to be printed on
                   sheets
    import         add the plants of files: CSV, TSV, JSON, JSON Lines, Excel,
                   Markdown or PlantDesk; undo removes them

examples:
  plantdesk                         open the window
  plantdesk add --name "Monstera deliciosa" --tag office
  plantdesk list --tag office       the plants with this tag
  plantdesk undo                    take back the last edit or deletion
  plantdesk token create garden-sync --output garden-sync.token
                                    a token for a program
  plantdesk serve --port 8722       only the API, on another port
  plantdesk help files              a page of the manual: window, commands, api,
                                    files, data, desks, measurements

PLANTDESK_HOME=FOLDER moves all files of PlantDesk to FOLDER.
Exit codes: 0 done; 1 refused or failed, the reason is on standard error;
2 wrong usage; 3 the API is not running (info); 130 interrupted."""
