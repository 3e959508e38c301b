# Perl: DBD::Pg with the type of each value named. One line of JSON a step.
use strict;
use warnings;
use DBI;
use DBD::Pg qw(:pg_types);
use JSON::PP;

my %types = (
    int2 => PG_INT2, int4 => PG_INT4, int8 => PG_INT8, numeric => PG_NUMERIC, float4 => PG_FLOAT4, float8 => PG_FLOAT8,
    bool => PG_BOOL, date => PG_DATE, timestamp => PG_TIMESTAMP, timestamptz => PG_TIMESTAMPTZ, uuid => PG_UUID,
    text => PG_TEXT, varchar => PG_VARCHAR, 'int4[]' => PG_INT4ARRAY, 'int8[]' => PG_INT8ARRAY, 'text[]' => PG_TEXTARRAY,
);
local $/;
open(my $file, '<:encoding(UTF-8)', $ARGV[0]) or die $!;
my $cases = JSON::PP->new->decode(<$file>);
my $db = DBI->connect("dbi:Pg:dbname=$ENV{PGDATABASE};host=$ENV{PGHOST};port=$ENV{PGPORT}", $ENV{PGUSER}, $ENV{PGPASSWORD},
    { RaiseError => 1, PrintError => 0, AutoCommit => 1 });
my $json = JSON::PP->new->canonical;
for my $case (@$cases) {
    my $line = eval {
        my $statement = $db->prepare($case->{sql});
        my $number = 0;
        for my $typed (@{ $case->{values} }) {
            my ($value, $type) = ($typed->{value}, $types{ $typed->{type} });
            $value = '{' . join(',', @$value) . '}' if ref $value;
            $statement->bind_param(++$number, $value, { pg_type => $type });
        }
        $statement->execute();
        { step => $case->{step}, value => [ $statement->{pg_type}, $statement->fetchall_arrayref() ] };
    } || { step => $case->{step}, error => $db->state };
    print $json->encode($line), "\n";
}
