# Rails' ActiveRecord, with prepared statements and without, and Sequel. One line of JSON a step.

require 'json'
require 'logger'
require 'active_record'
require 'sequel'

$stdout.sync = true

def plain(value)
  case value
  when nil, true, false, Integer, String then value.is_a?(String) && !value.valid_encoding? ? value.unpack1('H*') : value
  when Float, BigDecimal then value.to_s
  when Time, DateTime then value.to_time.utc.iso8601(6)
  when Hash then value.to_h { |key, item| [plain(key).to_s, plain(item)] }
  when Array then value.map { |item| plain(item) }
  else value.respond_to?(:attributes) ? plain(value.attributes) : value.to_s
  end
end

# The SQLSTATE that an error carries, whatever wraps it.
def state_of(error)
  error = error.cause while error && !error.respond_to?(:result)
  error&.result&.error_field(PG::Result::PG_DIAG_SQLSTATE)
end

def step(name)
  line = { step: name, value: plain(yield) }
rescue StandardError => error
  state = state_of(error) or raise
  line = { step: name, error: state }
ensure
  puts JSON.generate(line) if line
end

class Region < ActiveRecord::Base
  self.table_name = 'sales.regions'
  self.primary_key = 'name'
  has_many :orders, foreign_key: 'region'
end

class Order < ActiveRecord::Base
  self.table_name = 'sales.orders'
  belongs_to :place, class_name: 'Region', foreign_key: 'region', primary_key: 'name'
  scope :paid, -> { where(paid: true) }
end

environment = %w[PGHOST PGPORT PGDATABASE PGUSER PGPASSWORD].map { |name| ENV.fetch(name) }
host, port, database, username, password = environment

[true, false].each do |prepared|
  mode = prepared ? 'prepared' : 'plain'
  ActiveRecord::Base.establish_connection(
    adapter: 'postgresql', host: host, port: port, database: database, username: username, password: password,
    prepared_statements: prepared, schema_search_path: 'sales,public', statement_limit: 100
  )
  [Order, Region].each(&:reset_column_information)
  connection = ActiveRecord::Base.connection
  step("rails #{mode} columns") { Order.columns.map { |c| [c.name, c.sql_type, c.type, c.null, c.limit, c.precision, c.scale, c.default] } }
  step("rails #{mode} tables") { [connection.tables.sort, connection.primary_key('sales.orders'), connection.table_exists?('orders'), connection.schema_names] }
  step("rails #{mode} foreign keys") { connection.foreign_keys('sales.orders').map { |k| [k.to_table, k.column, k.primary_key] } }
  step("rails #{mode} types") { Order.order(:id).limit(10).to_a }
  step("rails #{mode} find") { [Order.find(3).email, Order.find_by(region: 'east').email.class.name] }
  step("rails #{mode} not found") { Order.find_by(id: 0) }
  step("rails #{mode} where") { Order.where(region: %w[east north]).where.not(note: nil).where('qty > ?', 10).order(:id).limit(5).pluck(:id, :email) }
  step("rails #{mode} like") { Order.where('note LIKE ?', 'note 11%').order(:id).ids }
  step("rails #{mode} group and sum") { Order.group(:region).order(:region).sum(:amount) }
  step("rails #{mode} group by two") { Order.group(:region, :paid).order(:region, :paid).count }
  step("rails #{mode} group by month") { Order.group("date_trunc('month', day)").order(Arel.sql("date_trunc('month', day)")).count }
  step("rails #{mode} having") { Order.group(:day).having('count(*) > 1').order(:day).limit(3).average(:amount) }
  step("rails #{mode} range of dates") { Order.where(day: Date.new(2024, 2, 1)..Date.new(2024, 2, 29)).count }
  step("rails #{mode} open range of times") { Order.where(placed_at: Time.utc(2024, 2, 1)...Time.utc(2024, 2, 2)).order(:id).pluck(:id) }
  step("rails #{mode} endless range") { Order.where(created: Time.utc(2024, 1, 1, 12)..).minimum(:id) }
  step("rails #{mode} find_each") { Order.where(paid: true).find_each(batch_size: 100).sum(&:id) }
  step("rails #{mode} in_batches") { Order.in_batches(of: 300).map { |batch| batch.pluck(:id).size } }
  step("rails #{mode} joins") { Order.joins(:place).where(regions: { name: 'west' }).distinct.count(:day) }
  step("rails #{mode} includes") { Order.includes(:place).order(:id).limit(4).map { |order| [order.id, order.place&.name] } }
  step("rails #{mode} has many") { Region.order(:name).map { |region| [region.name, region.orders.paid.count] } }
  step("rails #{mode} exists") { [Order.exists?(1), Order.exists?(2), Order.where(region: 'nowhere').none?] }
  step("rails #{mode} select") { Order.select("upper(region) AS upper, count(*) AS n").group(:region).order(:region).map { |o| [o[:upper], o.n] } }
  step("rails #{mode} binary") { Order.where(payload: ["0000000b"].pack('H*')).ids }
  step("rails #{mode} or, limit, offset") { Order.where(id: 1..9).or(Order.where(region: 'west')).order(id: :desc).limit(3).offset(1).ids }
  step("rails #{mode} find_by_sql") { Order.find_by_sql(['SELECT id, email FROM sales.orders WHERE id = :id', { id: 3 }]) }
  step("rails #{mode} bound") { connection.select_all('SELECT count(*) AS n FROM sales.orders WHERE id = $1', 'count', [[nil, 3]]).to_a } if prepared
  step("rails #{mode} no column") { Order.where('nothing = 1').to_a }
  step("rails #{mode} a failed transaction") do
    Order.transaction do
      Order.transaction(requires_new: true) { Order.find_by_sql('SELECT 1 / 0') } rescue nil
      Order.count
    end
  end
  step("rails #{mode} many statements") { (1..150).sum { |n| Order.where(id: n).limit(n).count } }
  ActiveRecord::Base.remove_connection
end

DB = Sequel.connect(adapter: 'postgres', host: host, port: port, database: database, user: username, password: password, search_path: %w[sales])
step('sequel tables') { DB.tables(schema: 'sales').sort }
step('sequel schema') { DB.schema(Sequel[:sales][:orders]).map { |name, column| [name, column[:db_type], column[:type], column[:allow_null], column[:primary_key]] } }
orders = DB[Sequel[:sales][:orders]]
step('sequel where') { orders.where(region: 'east').where { qty > 10 }.order(:id).limit(3).select_map(%i[id email]) }
step('sequel group') { orders.group_and_count(:region).order(:region).all }
step('sequel paged') { orders.order(:id).select(:id, :amount).paged_each(rows_per_fetch: 300).sum { |row| row[:amount] } }
step('sequel prepared') { orders.where(id: :$n).prepare(:select, :by_id).call(n: 3).map { |row| row[:email] } }
step('sequel truncated') { orders.group_and_count(Sequel.function(:date_trunc, 'month', :day).as(:month)).order(:month).limit(2).all }
DB.disconnect
