trap 'exit 143' TERM
umask 022
rm -rf "$3/tmp"
mkdir -p "$3/tmp" "$3/lock"
if test -e "$2"; then
    ironic-dbsync --config-file "$1" upgrade
else
    rm -f "$2.new" "$2.new-journal"
    OS_DATABASE__CONNECTION="sqlite:///$2.new" ironic-dbsync --config-file "$1" create_schema
    mv "$2.new" "$2"
fi
exec ironic --config-file "$1"
