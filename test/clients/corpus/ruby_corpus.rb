# Active Record and Sequel write what their users ask for of the corpus' tables; the argument names one. Prints a line for
# each query that fails.
require 'logger'
require 'bigdecimal'
require 'date'
require 'active_record'
require 'sequel'

def attempt(queries)
  queries.each_with_index do |query, number|
    query.call
  rescue StandardError, NotImplementedError => error
    puts "FAILED #{number} #{error.class} #{error.message.lines.first.to_s[0, 200]}"
  end
end

HOST = { host: ENV['PGHOST'], port: ENV['PGPORT'].to_i, user: ENV['PGUSER'], password: ENV['PGPASSWORD'], database: ENV['PGDATABASE'] }.freeze

def by_active_record
  ActiveRecord::Base.establish_connection(adapter: 'postgresql', host: HOST[:host], port: HOST[:port], username: HOST[:user], password: HOST[:password], database: HOST[:database], pool: 1)
  puts "VERSION Active Record #{ActiveRecord.version}"
  Object.class_eval <<~RUBY
    class Customer < ActiveRecord::Base
      self.table_name = 'sales.customers'
      self.primary_key = 'id'
      has_many :orders
      has_many :items, through: :orders
    end
    class Order < ActiveRecord::Base
      self.table_name = 'sales.orders'
      self.primary_key = 'id'
      belongs_to :customer, optional: true
      has_many :items
      scope :paid, -> { where(status: 'paid') }
      scope :large, -> { where('amount > ?', 50) }
    end
    class Item < ActiveRecord::Base
      self.table_name = 'sales.items'
      self.primary_key = 'uid'
      belongs_to :order
    end
    class Employee < ActiveRecord::Base
      self.table_name = 'hr.employees'
      self.primary_key = 'id'
      belongs_to :manager, class_name: 'Employee', optional: true
      has_many :staff, class_name: 'Employee', foreign_key: :manager_id
    end
  RUBY
  o = -> { Order.order(:id) }
  t = Order.arel_table
  i = Item.arel_table
  wheres = [
    { id: 3 }, { id: [1, 2, 3] }, { id: 2..5 }, { id: 2...5 }, { id: 3.. }, { id: ..3 }, { status: nil }, { status: ['paid', nil] }, { status: 'paid', region: 'EU' }, { amount: 20..100 }, { amount: BigDecimal('50') }, { discount: 0.25 }, { priority: true }, { ordered_on: Date.new(2024, 2, 29) }, { ordered_on: Date.new(2024, 2, 1)..Date.new(2024, 3, 1) }, { created_at: Time.utc(2024, 1, 1)..Time.utc(2024, 2, 15) }, { shipped_at: Time.utc(2024, 3, 20, 9, 30) }, { big: 9_000_000_000 }, { tags: [%w[a b]] }, { customer: 1 }, { id: [] },
    ['amount > ?', 20], ['amount > :a AND region = :r', { a: 5, r: 'EU' }], ['status IN (?)', %w[paid open]], ['status LIKE ?', 'pa%'], ['status ILIKE ?', 'PA%'], ["? = ANY (tags)", 'a'], ['tags @> ARRAY[?]::text[]', ['a']], ['tags && ARRAY[?]', %w[a c]], ["payload::jsonb ->> 's' = ?", 't'], ["payload::jsonb @> ?::jsonb", '{"s":"t"}'], ["date_trunc('month', created_at) = ?", Time.utc(2024, 3, 1)], ['extract(year from ordered_on) = ?', 2024], ['ordered_on + ? * interval \'1 day\' > ?', 7, Date.new(2024, 3, 1)],
    t[:amount].gt(20), t[:amount].gteq(20).and(t[:region].eq('EU')), t[:status].matches('pa%'), t[:status].matches('pa%', nil, true), t[:status].does_not_match('pa%'), t[:status].matches_any(%w[pa% op%]), t[:status].matches_regexp('^p'), t[:status].matches_regexp('^P', false), t[:status].does_not_match_regexp('^p'), t[:status].eq_any(%w[paid open]), t[:status].not_eq('paid'), t[:status].not_in(%w[paid]), t[:status].is_distinct_from('paid'), t[:status].is_not_distinct_from(nil), t[:id].between(2..5), t[:id].not_between(2..5), t[:status].lower.eq('paid'), (t[:amount] * 2).gt(100), (t[:amount] / 3).lt(10), (t[:quantity] + t[:id]).gt(5), (t[:quantity] & 1).eq(1), t[:tags].contains(%w[a]), t[:tags].overlaps(%w[a c]), t[:status].concat(t[:region]).eq('paidEU'), t[:id].in(i.project(i[:order_id])), t[:id].not_in(i.project(i[:order_id])), i.project(Arel.star).where(i[:order_id].eq(t[:id])).exists, i.project(Arel.sql('1')).where(i[:order_id].eq(t[:id])).exists.not, t[:amount].gt(Order.arel_table.project(Order.arel_table[:amount].average)), Arel::Nodes::NamedFunction.new('length', [t[:status]]).gt(4), t[:created_at].extract('hour').gt(12), t.grouping(t[:id].eq(1).or(t[:id].eq(2))), t[:amount].eq(nil).not
  ]
  selects = ['amount * quantity AS x', 'COALESCE(amount, 0) AS x', 'UPPER(status) AS x', "CASE WHEN amount > 50 THEN 'hi' ELSE 'lo' END AS x", 'ROW_NUMBER() OVER (PARTITION BY region ORDER BY id) AS x', t[:amount].as('x'), t[:status].lower.as('x'), Arel::Nodes::NamedFunction.new('COALESCE', [t[:quantity], 0]).as('x'), t[:amount].sum.over(Arel::Nodes::Window.new.partition(t[:region]).order(t[:id])).as('x'), Arel::Nodes::Window.new.order(t[:id]).then { |w| Arel::Nodes::NamedFunction.new('RANK', []).over(w).as('x') }, t[:created_at].extract('month').as('x'), (t[:amount] + 1).as('x'), Arel::Nodes::Case.new.when(t[:amount].gt(50)).then('hi').else('lo').as('x'), "to_char(ordered_on, 'YYYY-MM') AS x"]
  attempt(
    wheres.map { |where| -> { Order.where(where).order(:id).pluck(:id) } } + wheres.first(20).map { |where| -> { Order.where.not(where).order(:id).ids } } + selects.map { |each| -> { Order.select(:id, each).order(:id).to_a } } +
    [
      -> { Order.find(1) }, -> { Order.find([1, 2]) }, -> { Order.find_by(id: 2) }, -> { Order.first }, -> { Order.last }, -> { Order.first(3) }, -> { Order.last(2) }, -> { o.call.to_a }, -> { o.call.limit(3).offset(2).to_a }, -> { Order.order(amount: :desc, id: :asc).pluck(:id) }, -> { Order.order(Arel.sql('amount DESC NULLS LAST'), :id).pluck(:id) }, -> { Order.order(t[:amount].desc.nulls_last, t[:id]).pluck(:id) }, -> { o.call.reverse_order.ids }, -> { Order.count }, -> { Order.count(:amount) }, -> { Order.distinct.count(:region) }, -> { Order.sum(:amount) }, -> { Order.average(:quantity) }, -> { Order.minimum(:ordered_on) }, -> { Order.maximum(:created_at) }, -> { Order.sum('amount * quantity') }, -> { Order.where(status: 'paid').exists? }, -> { Order.exists?(1) }, -> { Order.where(status: 'none').any? }, -> { Order.many? }, -> { Order.group(:region).count }, -> { Order.group(:region, :status).sum(:amount) }, -> { Order.group(:region).having('COUNT(*) > ?', 2).count }, -> { Order.group(:region).average(:quantity) }, -> { Order.group("date_trunc('month', ordered_on)").count }, -> { Order.group(:region).order('count_all DESC', :region).limit(2).count }, -> { Order.group(:region).order(:region).pluck(:region, Arel.sql('SUM(amount)'), Arel.sql('COUNT(*)')) }, -> { Order.group(:customer).count }, -> { Order.distinct.order(:region).pluck(:region) }, -> { Order.select('DISTINCT ON (region) region, id').order(:region, id: :desc).to_a },
      -> { Order.paid.large.order(:id).to_a }, -> { Order.paid.or(Order.where(region: 'US')).order(:id).to_a }, -> { Order.paid.merge(Order.where(region: 'EU')).order(:id).to_a }, -> { Order.where.missing(:items).order(:id).ids }, -> { o.call.joins(:customer).pluck(:id, 'customers.name') }, -> { o.call.joins(:customer).where(customer: { city: 'Paris' }).ids }, -> { Order.left_outer_joins(:items).group('orders.id').order('orders.id').count('items.line') }, -> { o.call.includes(:customer).to_a }, -> { o.call.preload(:customer).to_a }, -> { o.call.eager_load(:customer).to_a }, -> { Customer.order(:id).includes(orders: :items).to_a }, -> { Customer.joins(:orders).distinct.order(:id).to_a }, -> { Customer.joins(orders: :items).group(:id).order(:id).count }, -> { Customer.find(1).orders.order(:id).to_a }, -> { Customer.find(1).items.count }, -> { Customer.find(1).orders.sum(:amount) }, -> { Customer.where(id: Order.select(:customer_id).where('amount > 20')).order(:id).ids }, -> { Employee.includes(:manager).order(:id).to_a }, -> { Order.from(Order.paid, :orders).order(:id).pluck(:id) }, -> { Order.from(Order.select(:region, 'SUM(amount) AS total').group(:region), :s).order('region').pluck('region', 'total') }, -> { o.call.in_batches(of: 3).map(&:count) }, -> { Order.find_each(batch_size: 3).map(&:id) }, -> { Order.find_by_sql(['SELECT * FROM sales.orders WHERE region = ? ORDER BY id', 'EU']) }, -> { Order.connection.select_all('SELECT region, COUNT(*) FROM sales.orders GROUP BY region ORDER BY region') }, -> { Order.where(id: 1).pick(:status) }, -> { Order.unscoped.where(id: 1).explain }, -> { Order.extending.where(id: 1).load.size }, -> { Order.where(region: 'EU').rewhere(region: 'US').order(:id).ids }, -> { Order.where(region: 'EU').unscope(:where).order(:id).ids }, -> { Order.annotate('by the report').order(:id).ids }, -> { Order.none.to_a }, -> { Item.where(uid: '00000000-0000-0000-0000-000000000001').pluck(:sku) }, -> { Item.group(:sku).order(:sku).sum('price * qty') }, -> { Item.where(weight: 0.25).pluck(:sku) }, -> { Item.where('price > ?', BigDecimal('5')).order(:order_id, :line).pluck(:price) }, -> { Order.order(:id).lock(false).first }, -> { Order.where('amount IS NOT NULL').order(:id).second }, -> { Order.calculate(:count, :all) }
    ]
  )
end

def by_sequel
  db = Sequel.connect(adapter: 'postgres', **HOST)
  puts "VERSION Sequel #{Sequel::VERSION}"
  db.extension :pg_array, :pg_json
  Sequel.extension :pg_array_ops, :pg_json_ops, :date_arithmetic, :string_agg
  db.extension :date_arithmetic, :string_agg
  orders = Sequel[:sales][:orders]
  customers = Sequel[:sales][:customers]
  items = Sequel[:sales][:items]
  o = db[orders].order(:id)
  js = Sequel.cast(:payload, :jsonb).pg_jsonb
  tags = Sequel.pg_array_op(:tags)
  wheres = [
    { id: 3 }, { id: [1, 2] }, { id: 2..5 }, { id: 2...5 }, { status: nil }, { status: 'paid', region: 'EU' }, { status: /^p/ }, { status: /^P/i }, { priority: true }, { ordered_on: Date.new(2024, 2, 29) }, { created_at: Time.utc(2024, 1, 1)..Time.utc(2024, 2, 15) }, { amount: BigDecimal('50') }, { discount: 0.25 }, { %i[id region] => [[1, 'EU'], [3, 'US']] }, { id: db[items].select(:order_id) }, { big: 9_000_000_000 },
    Sequel.lit('amount > ?', 20), Sequel[:amount] > 20, (Sequel[:amount] > 20) & { region: 'EU' }, Sequel.|({ status: 'paid' }, { region: 'US' }), ~Sequel.expr(status: 'paid'), Sequel.like(:status, 'pa%'), Sequel.ilike(:status, 'PA%'), Sequel.like(:status, 'pa%', 'op%'), Sequel[:status].sql_string.like('%ai%'), Sequel[:amount] * 2 > 100, { Sequel.function(:mod, :quantity, 2) => 1 }, { Sequel[:quantity].sql_number & 1 => 1 }, { Sequel.function(:lower, :status) => 'paid' }, { Sequel.extract(:year, :ordered_on) => 2024 }, Sequel.date_add(:ordered_on, days: 7) > Date.new(2024, 3, 1), Sequel.date_sub(:created_at, hours: 6) > Time.utc(2024, 3, 1), tags.contains(Sequel.pg_array(['a'], :text)), tags.overlaps(Sequel.pg_array(%w[a c], :text)), { 'a' => tags.any }, { js.get_text('s') => 't' }, js.contains('{"s":"t"}'), js.has_key?('s'), js.contain_any(%w[k s]), js.contain_all(%w[k s]), tags.length > 1
  ]
  selects = [Sequel[:amount] + 1, Sequel[:amount] * :quantity, Sequel[:amount] / 3, Sequel.function(:coalesce, :amount, 0), Sequel.function(:round, :amount, 1), Sequel.function(:upper, :status), Sequel.join(%i[region status], '-'), Sequel.cast(:id, String), Sequel.cast(:amount, Integer), Sequel.extract(:month, :ordered_on), Sequel.function(:date_trunc, 'month', :created_at), Sequel.date_add(:ordered_on, months: 1), Sequel.case({ { status: 'paid' } => 1 }, 0), Sequel.case([[Sequel[:amount] > 50, 'hi']], 'lo'), Sequel.case({ 'paid' => 1 }, 0, :status), Sequel.function(:row_number).over(partition: :region, order: :id), Sequel.function(:sum, :amount).over(order: :id), Sequel.function(:lag, :amount).over(order: :id), Sequel.function(:avg, :quantity).over(order: :id, frame: :rows), db[items].where(order_id: Sequel[:orders][:id]).select { count.function.* }, Sequel.function(:to_char, :ordered_on, 'YYYY-MM'), tags.length, tags[1], tags.join(','), js.get('k'), js.get_text('s'), js[%w[k x]], ~Sequel[:quantity].sql_number, 1, Sequel.function(:nullif, :quantity, 0)]
  totals = [Sequel.function(:count).*, Sequel.function(:count, :status).distinct, Sequel.function(:sum, :amount), Sequel.function(:avg, :quantity), Sequel.function(:max, :created_at), Sequel.function(:sum, :amount).filter(status: 'paid'), Sequel.function(:count).*.filter(Sequel[:amount] > 20), Sequel.function(:array_agg, :id).order(:id), Sequel.string_agg(:status, ',').order(:id), Sequel.function(:percentile_cont, 0.5).within_group(:discount), Sequel.function(:bool_or, :priority)]
  attempt(
    wheres.map { |where| -> { o.where(where).select_map(:id) } } + wheres.first(12).map { |where| -> { o.exclude(where).select_map(:id) } } + selects.map { |each| -> { o.select(:id, Sequel.as(each, :x)).all } } + totals.map { |each| -> { db[orders].select(Sequel.as(each, :x)).all } } + totals.map { |each| -> { db[orders].group(:region).select(:region, Sequel.as(each, :x)).order(:region).all } } +
    [
      -> { o.all }, -> { o.first }, -> { o.first(2) }, -> { o.last }, -> { o.limit(3, 2).all }, -> { o.reverse(:amount, :id).select_map(:id) }, -> { db[orders].order(Sequel.desc(:amount, nulls: :last), :id).select_map(:id) }, -> { db[orders].count }, -> { db[orders].count(:amount) }, -> { db[orders].sum(:amount) }, -> { db[orders].avg(:quantity) }, -> { db[orders].max(:created_at) }, -> { db[orders].min(:ordered_on) }, -> { db[orders].empty? }, -> { db[orders].where(status: 'paid').any? }, -> { db[orders].get(Sequel.function(:sum, :quantity)) }, -> { db[orders].group_and_count(:region).order(:region).all }, -> { db[orders].select_group(:region).select_append { sum(:amount).as(:t) }.having { count.function.* > 1 }.order(:region).all }, -> { db[orders].group(:region, :status).group_rollup.select(:region, :status) { count.function.*.as(:n) }.order(:region, :status, :n).all }, -> { db[orders].group(:region).group_cube.select(:region) { sum(:quantity).as(:t) }.order(:region).all }, -> { db[orders].group([:region], [:status], []).grouping_sets.select(:region, :status) { count.function.*.as(:n) }.order(:region, :status, :n).all }, -> { db[orders].distinct.select(:region).order(:region).all }, -> { db[orders].distinct(:region).select(:region, :id).order(:region, Sequel.desc(:id)).all }, -> { db[orders].select_order_map(%i[region id]) },
      -> { db[orders].join(customers, id: :customer_id).select(Sequel[:orders][:id], Sequel[:customers][:name]).order(Sequel[:orders][:id]).all }, -> { db[Sequel.as(orders, :o)].left_join(Sequel.as(items, :i), order_id: Sequel[:o][:id]).select(Sequel[:o][:id], Sequel[:i][:sku]).order(Sequel[:o][:id], Sequel[:i][:line]).all }, -> { db[Sequel.as(orders, :o)].full_join(Sequel.as(customers, :c), id: Sequel[:o][:customer_id]).select(Sequel[:o][:id], Sequel[:c][:id].as(:c)).order(Sequel[:o][:id], :c).all }, -> { db[Sequel.as(orders, :o)].cross_join(Sequel.as(customers, :c)).count }, -> { db[Sequel.as(orders, :o)].join(db[items].select_group(:order_id).select_append { sum(:price).as(:t) }, { order_id: :id }, table_alias: :s).select(Sequel[:o][:id], Sequel[:s][:t]).order(Sequel[:o][:id]).all }, -> { db[Sequel.as(orders, :o)].cross_join(db[items].where(order_id: Sequel[:o][:id]).order(:line).limit(1).lateral.as(:l)).select(Sequel[:o][:id], Sequel[:l][:sku]).order(Sequel[:o][:id]).all }, -> { db[Sequel.as(orders, :o)].where(db[items].where(order_id: Sequel[:o][:id]).exists).order(:id).select_map(:id) }, -> { db[orders].natural_join(customers).count },
      -> { db[:p].with(:p, db[orders].where(status: 'paid')).group_and_count(:region).order(:region).all }, -> { db[:t].with_recursive(:t, db[Sequel[:hr][:employees]].where(manager_id: nil).select(:id, Sequel.as(0, :depth)), db[Sequel.as(Sequel[:hr][:employees], :e)].join(:t, id: :manager_id).select(Sequel[:e][:id], Sequel[:t][:depth] + 1)).order(:depth, :id).all }, -> { o.from_self.where(region: 'EU').select_map(:id) }, -> { db[orders].select(:id).union(db[items].select(:order_id)).order(:id).all }, -> { db[orders].select(:id).union(db[items].select(:order_id), all: true, from_self: false).order(1).all }, -> { db[orders].select(:customer_id).intersect(db[customers].select(:id)).order(:customer_id).all }, -> { db[customers].select(:id).except(db[orders].select(:customer_id)).order(:id).all }, -> { db['SELECT region, count(*) FROM sales.orders WHERE amount > ? GROUP BY region ORDER BY region', 5].all }, -> { o.paged_each(rows_per_fetch: 3) { |_| nil } }, -> { db[orders].window(:w, partition: :region, order: :id).select(:id) { row_number.function.over(window: :w).as(:n) }.order(:id).all }, -> { db[items].where(uid: '00000000-0000-0000-0000-000000000001').all }, -> { db[items].where { weight > 0.3 }.order(:order_id, :line).select_map(:sku) }, -> { db[items].select_group(:sku).select_append { sum(price * qty).as(:v) }.order(:sku).all }, -> { db[orders].as_hash(:id, :status) }, -> { db[orders].select_hash_groups(:region, :id) }, -> { db.from(db.values([[1, 'a'], [2, 'b']]).as(:v, %i[n s])).join(orders, id: :n).select(Sequel[:v][:s], Sequel[:orders][:id]).order(:id).all }, -> { o.where(id: 1).single_record }
    ]
  )
end

{ 'active-record' => -> { by_active_record }, 'sequel' => -> { by_sequel } }.fetch(ARGV[0]).call
