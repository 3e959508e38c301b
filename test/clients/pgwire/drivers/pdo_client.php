<?php
/** PHP: PDO with prepares of the server and of its own, and the functions of libpq. One line of JSON a step. */

[$host, $port, $database, $user, $password] =
    array_map('getenv', ['PGHOST', 'PGPORT', 'PGDATABASE', 'PGUSER', 'PGPASSWORD']);

/** Streams, in which PDO gives bytes, as hex; the rest as it is. */
function plain(mixed $value): mixed
{
    if (is_resource($value)) return '\x' . bin2hex(stream_get_contents($value));
    if (is_array($value) || $value instanceof stdClass) return array_map('plain', (array) $value);
    return is_float($value) ? var_export($value, true) : $value;
}

function step(string $name, callable $action): void
{
    try {
        $line = ['step' => $name, 'value' => plain($action())];
    } catch (PDOException $error) {
        $line = ['step' => $name, 'error' => $error->errorInfo[0] ?? throw $error];
    }
    echo json_encode($line, JSON_THROW_ON_ERROR | JSON_PRESERVE_ZERO_FRACTION), "\n";
}

$columns = 'id, region, email, amount, qty, ratio, paid, day, placed_at, created, note, uid, payload';
$modes = [
    'server' => [],
    'emulated' => [PDO::ATTR_EMULATE_PREPARES => true],
    'unprepared' => [PDO::PGSQL_ATTR_DISABLE_PREPARES => true],
];
foreach ($modes as $mode => $options) {
    $db = new PDO("pgsql:host=$host;port=$port;dbname=$database", $user, $password, $options);
    $ask = function (string $text, array $values = [], int $fetch = PDO::FETCH_ASSOC) use ($db) {
        $statement = $db->prepare($text);
        $statement->execute($values);
        return $statement->fetchAll($fetch);
    };
    step("pdo $mode types", fn() => $ask("SELECT $columns FROM sales.orders ORDER BY id LIMIT 10"));
    step("pdo $mode named", fn() => $ask(
        'SELECT id, email FROM sales.orders WHERE region = :region AND qty > :qty ORDER BY id LIMIT 5',
        ['region' => 'east', 'qty' => 10],
    ));
    step("pdo $mode limit as text", fn() => $ask('SELECT id FROM sales.orders ORDER BY id LIMIT ? OFFSET ?', [3, 2]));
    step("pdo $mode limit as a number", function () use ($db) {
        $statement = $db->prepare('SELECT id FROM sales.orders ORDER BY id LIMIT :count');
        $statement->bindValue('count', 4, PDO::PARAM_INT);
        $statement->execute();
        return $statement->fetchAll(PDO::FETCH_COLUMN);
    });
    step("pdo $mode kinds of values", function () use ($db) {
        $statement = $db->prepare(
            'SELECT count(*) FROM sales.orders WHERE paid = ? AND day >= ? AND amount < ? AND coalesce(note, ?) IS NOT NULL',
        );
        $statement->bindValue(1, true, PDO::PARAM_BOOL);
        $statement->bindValue(2, '2024-06-01');
        $statement->bindValue(3, '50.25');
        $statement->bindValue(4, null, PDO::PARAM_NULL);
        $statement->execute();
        return $statement->fetchColumn();
    });
    step("pdo $mode bytes", function () use ($db) {
        $statement = $db->prepare('SELECT id FROM sales.orders WHERE payload = ?');
        $statement->bindValue(1, "\0\0\0\x0b", PDO::PARAM_LOB);
        $statement->execute();
        return $statement->fetchAll(PDO::FETCH_COLUMN);
    });
    $byMonth = 'SELECT date_trunc(?, day) AS month, count(*), sum(amount) FROM sales.orders GROUP BY 1 ORDER BY 1 LIMIT 3';
    // Grouped by its number, because two parameters would be two expressions.
    step("pdo $mode date_trunc", fn() => $ask($byMonth, ['month'], PDO::FETCH_NUM));
    step("pdo $mode to_char", fn() => $ask(
        'SELECT to_char(day, ?), round(amount, ?::int), extract(year FROM day) FROM sales.orders ORDER BY id LIMIT 2',
        ['YYYY-MM', 1],
    ));
    step("pdo $mode pairs", fn() => $ask(
        'SELECT region, count(*) FROM sales.orders GROUP BY 1 ORDER BY 1', [], PDO::FETCH_KEY_PAIR));
    step("pdo $mode groups", fn() => $ask(
        'SELECT region, id FROM sales.orders WHERE id < 12 ORDER BY 1, 2', [], PDO::FETCH_GROUP | PDO::FETCH_COLUMN));
    step("pdo $mode unique", fn() => $ask(
        'SELECT id, email, qty FROM sales.orders ORDER BY 1 LIMIT 3', [], PDO::FETCH_UNIQUE | PDO::FETCH_ASSOC));
    step("pdo $mode objects", fn() => $ask('SELECT id, paid FROM sales.orders ORDER BY 1 LIMIT 2', [], PDO::FETCH_OBJ));
    step("pdo $mode one after another", function () use ($db) {
        $statement = $db->prepare('SELECT email FROM sales.orders WHERE id = ?');
        return array_map(function ($id) use ($statement) {
            $statement->execute([$id]);
            return $statement->fetchColumn();
        }, [1, 2, 3, 7]);
    });
    step("pdo $mode like", fn() => $ask("SELECT id FROM sales.orders WHERE note ILIKE ? ORDER BY id", ['NOTE 11%']));
    step("pdo $mode no table", fn() => $ask('SELECT * FROM sales.nothing'));
    step("pdo $mode bad number", fn() => $ask('SELECT id FROM sales.orders WHERE id = ?', ['abc']));
    step("pdo $mode a failed transaction", function () use ($db, $ask) {
        $db->beginTransaction();
        try {
            $ask('SELECT * FROM sales.nothing');
        } catch (PDOException) {
        }
        try {
            return $ask('SELECT 1');
        } finally {
            $db->rollBack();
        }
    });
    step("pdo $mode goes on", fn() => [$db->inTransaction(), $ask('SELECT 1 AS one')]);
}

step('pdo columns', function () use ($db, $columns) {
    $statement = $db->prepare("SELECT $columns, count(*) OVER () AS n FROM sales.orders LIMIT 1");
    $statement->execute();
    $metas = array_map($statement->getColumnMeta(...), range(0, $statement->columnCount() - 1));
    // The number of a table is the server's own.
    return array_map(fn($meta) => array_diff_key($meta, ['pgsql:table_oid' => 0]), $metas);
});
step('pdo copy', fn() => $db->pgsqlCopyToArray('sales.regions'));
step('pdo cursor', function () use ($db) {
    $db->beginTransaction();
    $db->exec('DECLARE c CURSOR FOR SELECT id FROM sales.orders ORDER BY id');
    $found = [$db->query('FETCH 3 FROM c')->fetchAll(PDO::FETCH_COLUMN), $db->query('FETCH 2 FROM c')->fetchAll(PDO::FETCH_COLUMN)];
    $db->commit();
    return $found;
});
step('pdo scrolling cursor', function () use ($db) {
    $statement = $db->prepare('SELECT id FROM sales.orders ORDER BY id', [PDO::ATTR_CURSOR => PDO::CURSOR_SCROLL]);
    $statement->execute();
    return $statement->fetch(PDO::FETCH_NUM, PDO::FETCH_ORI_LAST);
});

$link = pg_connect("host=$host port=$port dbname=$database user=$user password=$password");
step('pg_query_params', fn() => pg_fetch_all(
    pg_query_params($link, 'SELECT id, email FROM sales.orders WHERE id = ANY($1) ORDER BY 1', ['{3,7}'])));
step('pg_prepare', function () use ($link) {
    pg_prepare($link, 'by id', 'SELECT email FROM sales.orders WHERE id = $1');
    return array_map(fn($id) => pg_fetch_result(pg_execute($link, 'by id', [$id]), 0, 0), [2, 3]);
});
step('pg_meta_data', fn() => pg_meta_data($link, 'sales.orders', true));
step('pg_field', function () use ($link) {
    $result = pg_query($link, 'SELECT id, amount, day, payload FROM sales.orders LIMIT 1');
    return array_map(fn($i) => [pg_field_name($result, $i), pg_field_type($result, $i), pg_field_table($result, $i)], range(0, 3));
});
step('pg_select', fn() => pg_select($link, 'sales.regions', ['name' => 'east']));
step('pg_ping', fn() => pg_ping($link));
