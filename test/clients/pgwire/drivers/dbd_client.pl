# Perl: DBD::Pg with prepares of the server and without, arrays, cursors, COPY, and what it tells of tables. One line of JSON a step.

use strict;
use warnings;
use DBI;
use DBD::Pg qw(:pg_types :async);
use JSON::PP;

my $json = JSON::PP->new->canonical->allow_nonref;
$| = 1;

sub plain {
    my ($value) = @_;
    return [map { plain($_) } @$value] if ref $value eq 'ARRAY';
    return {map { $_ => plain($value->{$_}) } keys %$value} if ref $value eq 'HASH';
    return defined $value ? "$value" : undef;
}

sub connection {
    my (%options) = @_;
    return DBI->connect("dbi:Pg:dbname=$ENV{PGDATABASE};host=$ENV{PGHOST};port=$ENV{PGPORT}", $ENV{PGUSER}, $ENV{PGPASSWORD},
        {RaiseError => 1, PrintError => 0, AutoCommit => 1, %options});
}

my $dbh;
sub step {
    my ($name, $action) = @_;
    my $value = eval { [$action->()] };
    my $line = defined $value ? {step => $name, value => plain($value->[0])} : {step => $name, error => $dbh->state};
    die $@ if !defined $value && $dbh->state !~ /^\w{5}$/;
    print $json->encode($line), "\n";
}

my $columns = 'id, region, email, amount, qty, ratio, paid, day, placed_at, created, note, uid, payload';
for my $prepare (1, 0) {
    my $mode = $prepare ? 'prepared' : 'plain';
    $dbh = connection(pg_server_prepare => $prepare, pg_switch_prepared => 1);
    my $payload = sub {
        my ($rows) = @_;
        $_->[12] = defined $_->[12] ? unpack('H*', $_->[12]) : undef for @$rows;
        return $rows;
    };
    step("dbd $mode types", sub { $payload->($dbh->selectall_arrayref("SELECT $columns FROM sales.orders ORDER BY id LIMIT 10")) });
    step("dbd $mode question marks", sub {
        $dbh->selectall_arrayref('SELECT id, email FROM sales.orders WHERE region = ? AND qty > ? ORDER BY id LIMIT ?', undef, 'east', 10, 5) });
    step("dbd $mode dollars", sub {
        $dbh->selectall_arrayref('SELECT id, email FROM sales.orders WHERE id BETWEEN $1 AND $2 ORDER BY id', undef, 3, 8) });
    step("dbd $mode names", sub {
        my $sth = $dbh->prepare('SELECT count(*) FROM sales.orders WHERE region = :r OR email = :r');
        $sth->bind_param(':r', 'west');
        $sth->execute;
        return $sth->fetchall_arrayref;
    });
    step("dbd $mode kinds of values", sub {
        my $sth = $dbh->prepare('SELECT count(*) FROM sales.orders WHERE paid = ? AND amount < ? AND day >= ? AND coalesce(payload, ?) IS NOT NULL');
        $sth->bind_param(1, 't', {pg_type => PG_BOOL});
        $sth->bind_param(2, '50.25', {pg_type => PG_NUMERIC});
        $sth->bind_param(3, '2024-06-01', {pg_type => PG_DATE});
        $sth->bind_param(4, "\0\1", {pg_type => PG_BYTEA});
        $sth->execute;
        return $sth->fetchall_arrayref;
    });
    step("dbd $mode array", sub {
        $dbh->selectcol_arrayref('SELECT id FROM sales.orders WHERE id = ANY(?) ORDER BY id', undef, [1, 2, 3, 7]) });
    step("dbd $mode array of text", sub {
        $dbh->selectall_arrayref('SELECT region, count(*) FROM sales.orders WHERE region = ANY(?) GROUP BY 1 ORDER BY 1', undef, ['east', 'north']) });
    step("dbd $mode arrays in results", sub {
        $dbh->selectall_arrayref('SELECT region, array_agg(id ORDER BY id) FROM sales.orders WHERE id < 10 GROUP BY 1 ORDER BY 1') });
    step("dbd $mode date_trunc", sub {
        $dbh->selectall_arrayref('SELECT date_trunc(?, day), count(*) FROM sales.orders GROUP BY 1 ORDER BY 1 LIMIT 3', undef, 'month') });
    step("dbd $mode again and again", sub {
        my $sth = $dbh->prepare('SELECT email FROM sales.orders WHERE id = ?');
        return [map { $dbh->selectrow_array($sth, undef, $_) } 1, 2, 3, 7];
    });
    step("dbd $mode hashes", sub { $dbh->selectall_hashref('SELECT id, region, email FROM sales.orders ORDER BY id LIMIT 3', 'id') });
    step("dbd $mode ping", sub { [$dbh->ping, $dbh->pg_ping] });
    step("dbd $mode no table", sub { $dbh->selectall_arrayref('SELECT * FROM sales.nothing') });
    step("dbd $mode a failed transaction", sub {
        $dbh->begin_work;
        eval { $dbh->selectall_arrayref('SELECT * FROM sales.nothing') };
        my $pings = [$dbh->ping, $dbh->pg_ping];
        $dbh->rollback;
        return $pings;
    });
    step("dbd $mode savepoint", sub {
        $dbh->begin_work;
        $dbh->pg_savepoint('before');
        eval { $dbh->selectall_arrayref('SELECT 1 / 0') };
        $dbh->pg_rollback_to('before');
        my $found = $dbh->selectall_arrayref('SELECT count(*) FROM sales.orders');
        $dbh->commit;
        return $found;
    });
    step("dbd $mode cursor", sub {
        $dbh->begin_work;
        $dbh->do('DECLARE c CURSOR FOR SELECT id, email FROM sales.orders ORDER BY id');
        my $found = [map { $dbh->selectall_arrayref("FETCH $_ FROM c") } 3, 2];
        $dbh->commit;
        return $found;
    });
}

step('dbd copy', sub {
    $dbh->do('COPY (SELECT id, region, email FROM sales.orders ORDER BY id LIMIT 3) TO STDOUT');
    my ($row, @rows);
    push @rows, $row while $dbh->pg_getcopydata($row) >= 0;
    return \@rows;
});
step('dbd asynchronous', sub {
    my $sth = $dbh->prepare('SELECT count(*) FROM sales.orders', {pg_async => PG_ASYNC});
    $sth->execute;
    my $rows = $dbh->pg_result;
    return [$rows, $sth->fetchall_arrayref];
});
step('dbd columns of a result', sub {
    my $sth = $dbh->prepare("SELECT $columns FROM sales.orders LIMIT 1");
    $sth->execute;
    $sth->fetchall_arrayref;
    return {map { $_ => $sth->{$_} } qw(NAME TYPE PRECISION SCALE NULLABLE pg_type)};
});
# The numbers of tables and columns are the server's own, and so is its owner.
my @private = qw(TABLE_CAT REMARKS pg_constraint);
my $rows = sub {
    my ($sth) = @_;
    my $found = $sth ? $sth->fetchall_arrayref({}) : [];
    for my $row (@$found) { delete @$row{@private, grep { /DESCRIPTION|_CAT$|_OID$/i } keys %$row} }
    return $found;
};
step('dbd table_info', sub { $rows->($dbh->table_info(undef, 'sales', '%', 'TABLE')) });
step('dbd tables', sub { [sort $dbh->tables(undef, 'sales', undef, 'TABLE')] });
step('dbd column_info', sub { $rows->($dbh->column_info(undef, 'sales', 'orders', '%')) });
step('dbd primary_key_info', sub { $rows->($dbh->primary_key_info(undef, 'sales', 'orders')) });
step('dbd foreign_key_info', sub { $rows->($dbh->foreign_key_info(undef, 'sales', 'regions', undef, 'sales', 'orders')) });
step('dbd type_info', sub { [map { $_->{TYPE_NAME} } $dbh->type_info(DBI::SQL_VARCHAR())] });
$dbh->disconnect;
