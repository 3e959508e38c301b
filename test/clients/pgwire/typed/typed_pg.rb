# Ruby: pg with the OID of each value's type. One line of JSON a step.
require 'json'
require 'pg'

OIDS = {
  'int2' => 21, 'int4' => 23, 'int8' => 20, 'numeric' => 1700, 'float4' => 700, 'float8' => 701, 'bool' => 16,
  'date' => 1082, 'timestamp' => 1114, 'timestamptz' => 1184, 'uuid' => 2950, 'text' => 25, 'varchar' => 1043,
  'int4[]' => 1007, 'int8[]' => 1016, 'text[]' => 1009
}.freeze

connection = PG.connect(host: ENV['PGHOST'], port: ENV['PGPORT'], dbname: ENV['PGDATABASE'], user: ENV['PGUSER'],
                        password: ENV['PGPASSWORD'], sslmode: 'disable')
JSON.parse(File.read(ARGV[0])).each do |statement|
  values = statement['values'].map do |typed|
    value = typed['value']
    { value: value.is_a?(Array) ? "{#{value.join(',')}}" : value, type: OIDS.fetch(typed['type']), format: 0 }
  end
  line = begin
    result = connection.exec_params(statement['sql'], values)
    types = (0...result.nfields).map { |index| result.ftype(index) }
    { step: statement['step'], value: [types, result.values] }
  rescue PG::Error => e
    { step: statement['step'], error: e.result&.error_field(PG::Result::PG_DIAG_SQLSTATE) || e.message }
  end
  puts JSON.generate(line)
end
