"""SQLAlchemy writes what its users ask for of the corpus' tables: expressions of its core and of its mapper, on the
driver that the first argument names. Prints a line for each that fails. Results are not looked at: the statements are
recorded on their way."""
import asyncio, datetime as dt, decimal, os, sys, uuid
import sqlalchemy as sa
from sqlalchemy import and_, case, cast, column, exists, extract, func, literal, not_, or_, select, tuple_, union, union_all, values
from sqlalchemy.dialects import postgresql as pg
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, aliased, contains_eager, joinedload, mapped_column, relationship, selectinload, subqueryload, with_loader_criteria

driver = sys.argv[1]
url = sa.URL.create(f'postgresql+{driver}', os.environ['PGUSER'], os.environ['PGPASSWORD'], os.environ['PGHOST'], int(os.environ['PGPORT']), os.environ['PGDATABASE'])

class Base(DeclarativeBase):
    pass

class Customer(Base):
    __tablename__ = 'customers'
    __table_args__ = {'schema': 'sales'}
    id: Mapped[int] = mapped_column(primary_key=True)
    name = mapped_column(sa.Text)
    email = mapped_column(sa.Text)
    city = mapped_column(sa.Text)
    country = mapped_column(sa.Text)
    born = mapped_column(sa.Date)
    score = mapped_column(sa.Double)
    vip = mapped_column(sa.Boolean)
    orders = relationship('Order', back_populates='customer', primaryjoin='Customer.id == foreign(Order.customer_id)', order_by='Order.id')

class Order(Base):
    __tablename__ = 'orders'
    __table_args__ = {'schema': 'sales'}
    id: Mapped[int] = mapped_column(primary_key=True)
    customer_id = mapped_column(sa.Integer)
    status = mapped_column(sa.String)
    region = mapped_column(sa.Text)
    amount = mapped_column(sa.Numeric(12, 2))
    discount = mapped_column(sa.Double)
    quantity = mapped_column(sa.Integer)
    ordered_on = mapped_column(sa.Date)
    created_at = mapped_column(sa.DateTime)
    shipped_at = mapped_column(sa.DateTime(timezone=True))
    priority = mapped_column(sa.Boolean)
    tags = mapped_column(pg.ARRAY(sa.Text))
    payload = mapped_column(sa.Text)
    big = mapped_column(sa.BigInteger)
    customer = relationship('Customer', back_populates='orders', primaryjoin='Customer.id == foreign(Order.customer_id)')
    items = relationship('Item', primaryjoin='Order.id == foreign(Item.order_id)', order_by='Item.line')

class Item(Base):
    __tablename__ = 'items'
    __table_args__ = {'schema': 'sales'}
    order_id: Mapped[int] = mapped_column(primary_key=True)
    line: Mapped[int] = mapped_column(primary_key=True)
    sku = mapped_column(sa.Text)
    price = mapped_column(sa.Numeric(10, 3))
    qty = mapped_column(sa.BigInteger)
    weight = mapped_column(sa.REAL)
    uid = mapped_column(sa.Uuid)

class Employee(Base):
    __tablename__ = 'employees'
    __table_args__ = {'schema': 'hr'}
    id: Mapped[int] = mapped_column(primary_key=True)
    name = mapped_column(sa.Text)
    manager_id = mapped_column(sa.Integer, sa.ForeignKey('hr.employees.id'))
    dept = mapped_column(sa.Text)
    hired = mapped_column(sa.DateTime(timezone=True))
    manager = relationship('Employee', remote_side=[id])

O, C, I, E = Order, Customer, Item, Employee
D, utc = decimal.Decimal, dt.timezone.utc
ids = select(O.id).order_by(O.id)
js = cast(O.payload, pg.JSONB)

filters = [
    O.id == 3, O.id != 3, O.id > 3, O.id.between(2, 5), O.id.in_([1, 2, 3]), O.id.not_in([1, 2]), O.id.in_([]), O.big > 2**40, O.big.in_([1, 9000000000]),
    O.status == 'paid', O.status != 'paid', O.status.is_(None), O.status.is_not(None), O.status.is_distinct_from('paid'), O.status.is_not_distinct_from(None),
    O.status.like('pa%'), O.status.ilike('PA%'), O.status.not_like('pa%'), O.status.not_ilike('PA%'), O.status.contains('ai'), O.status.icontains('AI'), O.status.startswith('pa'), O.status.istartswith('PA'), O.status.endswith('id'), O.status.iendswith('ID'),
    O.status.contains('%', autoescape=True), O.status.startswith('a_', autoescape=True), O.status.regexp_match('^p.*d$'), O.status.regexp_match('^P', flags='i'), ~O.status.regexp_match('^p'), O.status.in_(['paid', 'open']), O.status.in_(['paid', None]), O.status < 'open', func.lower(O.status) == 'paid', O.status.collate('C') > 'open',
    O.amount > D('20.5'), O.amount == 50, O.amount.between(D('1'), D('99.99')), O.amount * 2 > 100, O.amount + O.discount > 20, O.amount / 3 < 10, O.amount % 7 == 0, -O.amount < -50, func.abs(O.amount - 50) < 1, O.amount.in_([D('50.00'), D('7.25')]),
    O.discount > 0.1, O.discount == 0.25, O.discount.between(0.1, 0.3), O.discount.in_([0.1, 0.25]), O.quantity / 2 > 1, O.quantity // 2 > 1, O.quantity % 2 == 1, O.quantity.op('&')(1) == 1, O.quantity.bitwise_and(1) == 1, O.quantity.bitwise_or(1) == 3,
    O.ordered_on == dt.date(2024, 2, 29), O.ordered_on >= dt.date(2024, 2, 1), O.ordered_on.between(dt.date(2024, 1, 1), dt.date(2024, 2, 28)), O.ordered_on + dt.timedelta(days=7) > dt.date(2024, 3, 1), extract('year', O.ordered_on) == 2024, extract('dow', O.ordered_on) == 4, extract('quarter', O.ordered_on) == 1, O.ordered_on.in_([dt.date(2024, 1, 15), dt.date(2024, 3, 15)]),
    O.created_at == dt.datetime(2024, 3, 15, 12, 0), O.created_at < dt.datetime(2024, 2, 1, 23, 59, 59, 500000), O.created_at - dt.timedelta(hours=6) > dt.datetime(2024, 3, 1), func.date_trunc('month', O.created_at) == dt.datetime(2024, 3, 1), cast(O.created_at, sa.Date) == dt.date(2024, 3, 15), func.date(O.created_at) == dt.date(2024, 3, 15), cast(O.created_at, sa.Time) > dt.time(12, 0), extract('hour', O.created_at).in_([12, 13]),
    O.shipped_at > dt.datetime(2024, 3, 1, tzinfo=utc), O.shipped_at.between(dt.datetime(2024, 1, 1, tzinfo=utc), dt.datetime(2024, 2, 1, tzinfo=utc)), O.shipped_at - O.created_at > dt.timedelta(days=1), func.timezone('Europe/Berlin', O.shipped_at) > dt.datetime(2024, 3, 1),
    O.priority, ~O.priority, O.priority.is_(True), O.priority.is_not(True), O.priority == sa.true(), O.priority.is_(None),
    O.tags.contains(['a']), O.tags.overlap(['a', 'c']), O.tags.contained_by(['a', 'b']), O.tags.any('a'), O.tags.all('a'), O.tags == ['a', 'b'], O.tags[1] == 'a', func.cardinality(O.tags) > 1, func.array_length(O.tags, 1) == 2, O.status == sa.any_(pg.array(['paid', 'open'])), literal('b') == sa.any_(O.tags),
    js['s'].astext == 't', js['k']['x'].astext == '1', js['k']['x'].as_integer() > 1, js[('k', 'x')].astext.is_not(None), js.has_key('s'), js.has_any(pg.array(['k', 'list'])), js.has_all(pg.array(['k', 'list'])), js.contains({'s': 't'}), js['list'][0].astext == '1', func.jsonb_array_length(js['list']) > 1, func.jsonb_typeof(js['k']) == 'object',
    and_(O.status == 'paid', or_(O.amount > 60, O.region == 'US')), not_(or_(O.status == 'paid', O.region == 'EU')), or_(O.amount.is_(None), O.quantity == 0), tuple_(O.id, O.region).in_([(1, 'EU'), (3, 'US')]), tuple_(O.region, O.id) > tuple_('APAC', 5),
    exists().where(I.order_id == O.id), ~exists().where(I.order_id == O.id, I.qty > 3), O.id.in_(select(I.order_id).where(I.price > 10)), O.id.not_in(select(I.order_id)), O.customer.has(C.city == 'Paris'), ~O.customer.has(), O.items.any(I.sku == 'A-100'), O.items.any(), O.customer_id == select(func.max(C.id)).scalar_subquery(), O.amount > select(func.avg(O.amount)).scalar_subquery(), O.amount >= sa.all_(select(O.amount).where(O.amount.is_not(None)).scalar_subquery()), O.customer_id == sa.any_(select(C.id).where(C.city == 'Paris').scalar_subquery()),
]

expressions = [
    O.amount + 1, O.amount * O.quantity, O.amount / func.nullif(O.quantity, 0), func.round(O.amount * literal(D('0.19')), 2), func.round(O.amount), func.ceil(O.amount), func.floor(O.discount), func.sqrt(O.quantity), func.power(O.quantity, 2), func.mod(O.quantity, 3), func.sign(O.amount - 50), func.coalesce(O.amount, 0), func.coalesce(O.quantity, O.id, 0), func.nullif(O.quantity, 0), func.greatest(O.quantity, 4), func.least(O.amount, 50), func.abs(O.big),
    func.upper(O.status), func.lower(O.region), func.length(O.status), func.char_length(O.region), func.substr(O.status, 1, 2), func.substring(O.status, 2), func.left(O.status, 3), func.right(O.status, 2), func.replace(O.status, 'a', 'b'), func.trim(O.status), func.ltrim(O.status, 'p'), func.concat(O.region, '-', O.status), func.concat_ws('/', O.region, O.status), O.region + ':' + O.status, O.region.concat('x'), func.split_part(O.created_at.cast(sa.Text), '-', 1), func.strpos(O.status, 'i'), func.initcap(O.status), func.reverse(O.status), func.repeat(O.region, 2), func.lpad(cast(O.id, sa.String), 5, '0'), func.md5(O.status), func.ascii(O.region), O.status.regexp_replace('[aeiou]', '*', flags='g'), O.status.regexp_replace('a', 'A'), func.regexp_replace(O.status, 'a(.)', r'\1', 'g'),
    extract('year', O.ordered_on), extract('month', O.created_at), extract('epoch', O.shipped_at), extract('week', O.ordered_on), func.date_part('doy', O.ordered_on), func.date_trunc('week', O.created_at), func.date_trunc('quarter', O.ordered_on), func.date_trunc('day', O.shipped_at), func.to_char(O.ordered_on, 'YYYY-MM'), func.to_char(O.created_at, 'HH24:MI:SS'), func.to_char(O.amount, 'FM999990.00'), func.age(O.created_at, dt.datetime(2024, 1, 1)), O.ordered_on - dt.date(2024, 1, 1), O.created_at + dt.timedelta(days=1, hours=2), O.shipped_at - O.created_at, func.timezone('UTC', O.shipped_at), O.shipped_at.op('AT TIME ZONE')('America/New_York'), func.make_date(2024, O.quantity + 1, 1),
    cast(O.id, sa.String), cast(O.amount, sa.Integer), cast(O.amount, sa.Float), cast(O.quantity, sa.Numeric(10, 2)), cast(O.ordered_on, sa.DateTime), cast(O.id, sa.BigInteger), cast(O.priority, sa.Integer), cast(O.priority, sa.Text), cast(O.discount, sa.Numeric), sa.type_coerce(O.payload, sa.String),
    case((O.amount > 100, 'big'), (O.amount.is_(None), None), else_='small'), case({'paid': 1, 'open': 2}, value=O.status, else_=0), case((O.priority, O.quantity)), O.amount.is_(None), O.amount > 20, and_(O.priority, O.amount > 1), O.status.in_(['paid']),
    func.count().over(), func.row_number().over(partition_by=O.region, order_by=O.id), func.rank().over(order_by=O.amount.desc().nulls_last()), func.dense_rank().over(partition_by=O.status, order_by=O.region), func.sum(O.amount).over(partition_by=O.region, order_by=O.id), func.sum(O.quantity).over(order_by=O.id, rows=(-1, 1)), func.avg(O.quantity).over(partition_by=O.region, order_by=O.id, rows=(None, 0)), func.sum(O.quantity).over(order_by=O.id, range_=(-2, 0)), func.lag(O.amount).over(order_by=O.id), func.lead(O.amount, 2, 0).over(order_by=O.id), func.first_value(O.status).over(partition_by=O.region, order_by=O.id), func.last_value(O.status).over(partition_by=O.region, order_by=O.id, rows=(None, None)), func.nth_value(O.id, 2).over(partition_by=O.region, order_by=O.id), func.ntile(3).over(order_by=O.id), func.percent_rank().over(order_by=O.id), func.cume_dist().over(order_by=O.id), func.count(O.id).filter(O.status == 'paid').over(partition_by=O.region),
    O.tags[1], O.tags[1:2], func.array_length(O.tags, 1), func.array_to_string(O.tags, ','), func.array_append(O.tags, 'z'), func.array_position(O.tags, 'b'), func.array_cat(O.tags, pg.array(['q'])), O.tags + pg.array(['w']), func.array_remove(O.tags, 'a'), pg.array([O.region, O.status]),
    js['s'], js['s'].astext, js['k']['x'], js[('k', 'x')], js['list'][0], js['k']['x'].as_integer(), js['s'].as_string(), func.jsonb_typeof(js), func.jsonb_build_object('id', O.id, 'st', O.status), func.jsonb_array_length(js['list']), func.to_jsonb(O.tags), js.path_exists('$.k.x'), func.jsonb_path_query_first(js, cast('$.list[0]', pg.JSONPATH)),
    select(func.count()).where(I.order_id == O.id).scalar_subquery(), select(func.string_agg(I.sku, pg.aggregate_order_by(literal(','), I.line))).where(I.order_id == O.id).correlate(O).scalar_subquery(), exists().where(I.order_id == O.id), select(C.name).where(C.id == O.customer_id).scalar_subquery(), func.array(select(I.sku).where(I.order_id == O.id).order_by(I.line).scalar_subquery()), literal(1), literal('x'), sa.null(), sa.true(), literal(D('1.5')), literal(dt.date(2024, 1, 1)),
]

aggregates = [
    func.count(), func.count(O.amount), func.count(O.status.distinct()), func.sum(O.amount), func.sum(O.quantity), func.sum(O.big), func.sum(O.discount), func.avg(O.quantity), func.avg(O.discount), func.min(O.ordered_on), func.max(O.created_at), func.max(O.status), func.sum(O.amount * O.quantity), func.sum(O.amount) / func.count(), func.sum(case((O.status == 'paid', O.amount), else_=0)), func.count(case((O.amount > 20, 1))), func.count().filter(O.status == 'paid'), func.sum(O.amount).filter(O.priority), func.coalesce(func.sum(O.amount), 0), func.round(func.avg(O.amount), 2), func.bool_or(O.priority), func.bool_and(O.priority), func.every(O.priority), func.stddev(O.quantity), func.variance(O.quantity), func.stddev_pop(O.discount), func.corr(O.discount, O.quantity), func.array_agg(pg.aggregate_order_by(O.id, O.id.desc())), func.string_agg(O.status, pg.aggregate_order_by(literal(', '), O.id)), func.json_agg(pg.aggregate_order_by(O.status, O.id)), func.jsonb_object_agg(cast(O.id, sa.Text), O.status), func.percentile_cont(0.5).within_group(O.discount), func.percentile_disc(0.5).within_group(O.quantity), func.mode().within_group(O.status), func.sum(sa.distinct(O.quantity)), func.count(sa.distinct(func.lower(O.status))), func.max(O.amount) - func.min(O.amount), func.bit_or(O.quantity), func.max(func.length(O.status)), func.count(O.id),
]

paid = select(O.id, O.region, O.amount).where(O.status == 'paid')
cte = paid.cte('paid')
sub = paid.subquery()
other = aliased(O)
boss = aliased(E)
region_totals = select(O.region, func.sum(O.amount).label('total')).group_by(O.region).cte('region_totals')
tree = select(E.id, E.name, literal(0).label('depth')).where(E.manager_id.is_(None)).cte('tree', recursive=True)
tree = tree.union_all(select(E.id, E.name, tree.c.depth + 1).join(tree, E.manager_id == tree.c.id))
latest = select(I).where(I.order_id == O.id).order_by(I.line.desc()).limit(1).lateral('latest')
numbers = values(column('n', sa.Integer), column('s', sa.String), name='numbers').data([(1, 'a'), (2, 'b')])
statements = [
    select(O).order_by(O.id), select(O).order_by(O.id).limit(3), select(O).order_by(O.id).limit(3).offset(2), select(O.id).order_by(O.id.desc()).offset(4), select(O.id).order_by(O.id).fetch(2), select(O.id, O.quantity).order_by(O.quantity.desc().nulls_last(), O.id).fetch(2, with_ties=True), select(O.id).order_by(O.amount.asc().nulls_first(), O.id), select(O.id).order_by(func.lower(O.status), O.id.desc()), select(O.id).order_by(case((O.region == 'US', 0), else_=1), O.id),
    select(O.region).distinct().order_by(O.region), select(O.region, O.status).distinct().order_by(O.region, O.status), select(O.region, O.id).distinct(O.region).order_by(O.region, O.id.desc()), select(func.count()).select_from(select(O.region).distinct().subquery()), select(func.count(O.id)).select_from(O).where(O.status == 'paid'),
    select(O.id, C.name).join(C, C.id == O.customer_id).order_by(O.id), select(O.id, C.name).join(O.customer).where(C.city == 'Paris').order_by(O.id), select(C.name, func.count(O.id)).outerjoin(C.orders).group_by(C.name).order_by(C.name), select(C.id, O.id).join(O, O.customer_id == C.id, full=True).order_by(C.id, O.id), select(O.id, I.sku, C.name).join(O.items).join(O.customer).order_by(O.id, I.line), select(O.id, other.id).join(other, and_(O.region == other.region, O.id < other.id)).order_by(O.id, other.id), select(E.name, boss.name).join(boss, E.manager_id == boss.id, isouter=True).order_by(E.id), select(O.id, C.id).where(O.customer_id == C.id, C.vip.is_(False)).order_by(O.id), select(O.id, numbers.c.s).join(numbers, numbers.c.n == O.id).order_by(O.id), select(O.id, latest.c.sku).join(latest, sa.true()).order_by(O.id), select(O.id, latest.c.sku).join(latest, sa.true(), isouter=True).order_by(O.id),
    select(O.region, func.count()).group_by(O.region).order_by(O.region), select(O.region, O.status, func.sum(O.amount).label('total')).group_by(O.region, O.status).order_by(sa.desc('total').nulls_last(), O.region, O.status), select(O.region, func.count().label('n')).group_by(O.region).having(func.count() > 2).order_by(O.region), select(O.region).group_by(O.region).having(and_(func.sum(O.amount) > 50, func.max(O.quantity) < 20)).order_by(O.region), select(func.date_trunc('month', O.created_at).label('m'), func.count()).group_by('m').order_by('m'), select(extract('year', O.ordered_on).label('y'), extract('month', O.ordered_on).label('m'), func.sum(O.amount)).group_by('y', 'm').order_by('y', 'm'), select(O.region, O.status, func.count()).group_by(func.rollup(O.region, O.status)).order_by(O.region, O.status, func.count()), select(O.region, O.status, func.count(), func.grouping(O.region)).group_by(func.cube(O.region, O.status)).order_by(O.region, O.status, func.grouping(O.region)), select(O.region, func.sum(O.quantity)).group_by(func.grouping_sets(tuple_(O.region), tuple_())).order_by(O.region), select(case((O.amount > 50, 'hi'), else_='lo').label('band'), func.count()).group_by('band').order_by('band'),
    select(cte.c.region, func.sum(cte.c.amount)).group_by(cte.c.region).order_by(cte.c.region), select(sub.c.id).where(sub.c.amount > 10).order_by(sub.c.id), select(O.id).join(region_totals, region_totals.c.region == O.region).where(O.amount > region_totals.c.total / 4).order_by(O.id), select(tree.c.name, tree.c.depth).order_by(tree.c.depth, tree.c.name),
    union(select(O.region), select(C.city)).order_by('region'), union_all(select(O.id).where(O.status == 'paid'), select(O.id).where(O.region == 'EU')).order_by('id'), select(O.customer_id).intersect(select(C.id)).order_by('customer_id'), select(C.id).except_(select(O.customer_id)).order_by('id'), select(func.count()).select_from(union_all(select(O.id), select(I.order_id)).subquery()), union_all(select(O.id).order_by(O.id).limit(1), select(O.id).order_by(O.id.desc()).limit(1)).order_by('id'),
    select(func.unnest(O.tags).label('t'), O.id).order_by(O.id, 't'), select(func.count(), column('t')).select_from(O).join(func.unnest(O.tags).table_valued(column('t', sa.Text)).render_derived(name='u'), sa.true()).group_by(column('t')).order_by(column('t')), select(func.generate_series(1, 3).label('n')).select_from(O).where(O.id == 1).order_by('n'), select(I.uid, I.weight, I.qty).where(I.uid == uuid.UUID(int=1)), select(I.uid).where(I.uid.in_([uuid.UUID(int=1), uuid.UUID(int=255)])).order_by(I.uid), select(I.sku).where(I.weight > 0.3).order_by(I.order_id), select(I.sku).where(I.weight == 0.25), select(func.sum(I.price * I.qty), func.avg(I.weight)), select(func.sum(I.qty), func.avg(I.qty), func.avg(I.price)), select(func.max(cast(I.uid, sa.Text))), select(I.sku).where(I.sku.like('c\\_%')).order_by(I.sku), select(I.sku).where(I.sku.contains('_', autoescape=True)).order_by(I.sku), select(I.sku, func.rank().over(partition_by=I.sku, order_by=I.price.desc()).label('r')).order_by(I.sku, 'r'),
    select(C.name, C.born, C.score, C.email).where(C.name.ilike('%ü%')).order_by(C.id), select(C.name).where(C.score > 1).order_by(C.name), select(extract('year', C.born).label('y'), func.count()).group_by('y').order_by('y'), select(func.length(C.email), func.octet_length(C.email)).order_by(C.id), select(C.vip, func.count()).group_by(C.vip), select(E.hired).where(E.hired >= dt.datetime(2021, 1, 1, tzinfo=utc)).order_by(E.id),
]

def orm(session):
    yield lambda: session.get(O, 3)
    yield lambda: session.scalars(select(O).options(joinedload(O.customer)).order_by(O.id)).unique().all()
    yield lambda: session.scalars(select(C).options(joinedload(C.orders)).order_by(C.id).limit(2)).unique().all()
    yield lambda: session.scalars(select(O).options(selectinload(O.items)).order_by(O.id)).all()
    yield lambda: session.scalars(select(C).options(subqueryload(C.orders)).order_by(C.id)).all()
    yield lambda: session.scalars(select(O).join(O.customer).options(contains_eager(O.customer)).where(C.vip.is_(False)).order_by(O.id)).all()
    yield lambda: session.scalars(select(O).options(joinedload(O.items).load_only(I.sku), joinedload(O.customer, innerjoin=True)).order_by(O.id)).unique().all()
    yield lambda: session.scalars(select(E).options(joinedload(E.manager).joinedload(E.manager)).order_by(E.id)).unique().all()
    yield lambda: session.scalars(select(E).options(selectinload(E.manager)).order_by(E.id)).all()
    yield lambda: session.scalars(select(O).options(with_loader_criteria(O, O.region == 'EU')).order_by(O.id)).all()
    yield lambda: session.query(O).filter_by(status='paid', region='EU').order_by(O.id).all()
    yield lambda: session.query(O).filter(O.amount > 10).count()
    yield lambda: session.query(O).filter(O.id == 1).one()
    yield lambda: session.query(O.id).filter(O.status == 'paid').order_by(O.id).first()
    yield lambda: session.query(session.query(O).filter(O.status == 'none').exists()).scalar()
    yield lambda: session.query(O.region, func.count(O.id)).group_by(O.region).order_by(O.region).all()
    yield lambda: session.query(O).order_by(O.id)[2:5]
    yield lambda: session.query(func.sum(O.amount)).filter(O.customer_id.in_(session.query(C.id).filter(C.city == 'Paris'))).scalar()
    yield lambda: session.query(C).join(O, O.customer_id == C.id).filter(O.amount > 20).distinct().order_by(C.id).all()
    yield lambda: session.query(O).with_entities(O.id, O.amount).order_by(O.amount.desc().nulls_last(), O.id).limit(3).all()
    yield lambda: session.get(C, 1).orders
    yield lambda: session.query(O).from_statement(sa.text('SELECT * FROM sales.orders WHERE id = :id').bindparams(id=1)).all()
    yield lambda: session.execute(sa.text('SELECT region, count(*) FROM sales.orders WHERE amount > :least GROUP BY region ORDER BY region'), {'least': 5}).all()
    yield lambda: session.scalars(select(O).where(tuple_(O.ordered_on, O.id) > tuple_(literal(dt.date(2024, 2, 1)), literal(2))).order_by(O.ordered_on, O.id).limit(2)).all()

def run(connection):
    everything = [ids.where(each) for each in filters] + [select(O.id, each.label('x')).order_by(O.id) for each in expressions]
    everything += [select(each.label('x')) for each in aggregates] + [select(O.region, each.label('x')).group_by(O.region).order_by(O.region) for each in aggregates[3:20]] + statements
    for number, statement in enumerate(everything):
        try:
            connection.execute(statement).all()
        except Exception as error:
            print('FAILED', number, str(error).splitlines()[0][:150], str(statement)[:200].replace('\n', ' '))
        connection.rollback()
    with Session(connection) as session:
        for number, action in enumerate(orm(session)):
            try:
                action()
            except Exception as error:
                print('FAILED orm', number, str(error).splitlines()[0][:200])
            session.rollback()
            session.expunge_all()

async def asynchronous():
    engine = create_async_engine(url)
    async with engine.connect() as connection:
        await connection.run_sync(run)
    await engine.dispose()

print('VERSION', f'SQLAlchemy {sa.__version__}')
if driver == 'asyncpg':
    asyncio.run(asynchronous())
else:
    with sa.create_engine(url).connect() as connection:
        run(connection)
