<?php
/** PHP: PDO with the kinds of values that it has, on prepared statements of the server and without. */

[$host, $port, $database, $user, $password] =
    array_map('getenv', ['PGHOST', 'PGPORT', 'PGDATABASE', 'PGUSER', 'PGPASSWORD']);
$cases = json_decode(file_get_contents($argv[1]), true, 64, JSON_THROW_ON_ERROR);
$kinds = ['int2' => PDO::PARAM_INT, 'int4' => PDO::PARAM_INT, 'int8' => PDO::PARAM_INT, 'bool' => PDO::PARAM_BOOL];
foreach (['server' => [], 'unprepared' => [PDO::PGSQL_ATTR_DISABLE_PREPARES => true]] as $mode => $options) {
    $db = new PDO("pgsql:host=$host;port=$port;dbname=$database", $user, $password, $options);
    foreach ($cases as ['step' => $step, 'sql' => $sql, 'values' => $values]) {
        try {
            $statement = $db->prepare(preg_replace('/\$\d+/', '?', $sql));
            foreach ($values as $index => ['type' => $type, 'value' => $value]) {
                $text = is_array($value) ? '{' . implode(',', $value) . '}' : $value;
                $typed = $text !== null && isset($kinds[$type]) ? ($type === 'bool' ? $text === 'true' : (int) $text) : $text;
                $statement->bindValue($index + 1, $typed, $text === null ? PDO::PARAM_NULL : ($kinds[$type] ?? PDO::PARAM_STR));
            }
            $statement->execute();
            $line = ['step' => "$mode $step", 'value' => $statement->fetchAll(PDO::FETCH_NUM)];
        } catch (PDOException $error) {
            $line = ['step' => "$mode $step", 'error' => $error->errorInfo[0] ?? throw $error];
        }
        echo json_encode($line, JSON_THROW_ON_ERROR | JSON_PRESERVE_ZERO_FRACTION), "\n";
    }
}
