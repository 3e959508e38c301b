"""Peewee, Pony and Tortoise write what their users ask for of the corpus' tables; the first argument names one."""
import asyncio, datetime as dt, decimal, os, sys, uuid, warnings

warnings.simplefilter('ignore')
env, D, utc = os.environ, decimal.Decimal, dt.timezone.utc

def attempt(number, action):
    try:
        return action()
    except Exception as error:
        print('FAILED', number, str(error).splitlines()[0][:200])

def by_peewee():
    import peewee as pw
    from playhouse.postgres_ext import ArrayField, PostgresqlExtDatabase
    from peewee import fn, JOIN
    db = PostgresqlExtDatabase(env['PGDATABASE'], host=env['PGHOST'], port=int(env['PGPORT']), user=env['PGUSER'], password=env['PGPASSWORD'])
    class Base(pw.Model):
        class Meta:
            database = db
            schema = 'sales'
    class C(Base):
        name = pw.TextField()
        city = pw.TextField()
        born = pw.DateField()
        vip = pw.BooleanField()
        score = pw.DoubleField()
        class Meta:
            table_name = 'customers'
    class O(Base):
        customer = pw.ForeignKeyField(C, backref='orders', column_name='customer_id')
        status = pw.CharField()
        region = pw.TextField()
        amount = pw.DecimalField(12, 2)
        discount = pw.DoubleField()
        quantity = pw.IntegerField()
        ordered_on = pw.DateField()
        created_at = pw.DateTimeField()
        priority = pw.BooleanField()
        tags = ArrayField(pw.TextField)
        payload = pw.TextField()
        big = pw.BigIntegerField()
        class Meta:
            table_name = 'orders'
    class I(Base):
        order = pw.ForeignKeyField(O, backref='items', column_name='order_id')
        line = pw.IntegerField()
        sku = pw.TextField()
        price = pw.DecimalField(10, 3)
        qty = pw.BigIntegerField()
        uid = pw.UUIDField()
        class Meta:
            table_name = 'items'
            primary_key = pw.CompositeKey('order', 'line')
    class E(Base):
        name = pw.TextField()
        manager = pw.ForeignKeyField('self', column_name='manager_id', null=True)
        dept = pw.TextField()
        class Meta:
            table_name = 'employees'
            schema = 'hr'
    print('VERSION', f'Peewee {pw.__version__}')
    wheres = [
        O.id == 3, O.id != 3, O.id << [1, 2], O.id.not_in([1, 2]), O.id.between(2, 5), O.status.is_null(), O.status >> None, O.status ** '%AI%', O.status % 'pa%', O.status.contains('ai'), O.status.startswith('pa'), O.status.endswith('id'), O.status.regexp('^p'), O.status.iregexp('^P'), O.status.like('p%'), O.status.ilike('P%'), O.status.in_([]),
        (O.status == 'paid') & (O.amount > 10), (O.status == 'paid') | (O.region == 'US'), ~(O.status == 'paid'), O.amount * 2 > 100, O.amount / 2 < 30, fn.MOD(O.quantity, 2) == 1, O.quantity.bin_and(1) == 1, O.ordered_on.year == 2024, O.ordered_on.month == 3, O.created_at.hour >= 12, O.created_at.day == 15, O.created_at.truncate('month') == dt.datetime(2024, 3, 1), O.ordered_on > dt.date(2024, 2, 1), O.created_at < dt.datetime(2024, 2, 1), O.priority, O.priority == False, O.tags.contains('a'), O.tags.contains_any('a', 'c'), O.tags[0] == 'a', O.big > 2**40, fn.LOWER(O.status) == 'paid',
        pw.fn.EXISTS(I.select().where(I.order == O.id)), O.id.in_(I.select(I.order).where(I.price > 5)), O.amount > O.alias('b').select(fn.AVG(O.alias('b').amount)), O.discount == 0.25, O.region.concat('x') == 'EUx',
    ]
    columns = [
        O.amount + 1, O.amount * O.quantity, fn.ROUND(O.amount, 1), fn.COALESCE(O.amount, 0), fn.UPPER(O.status), fn.LENGTH(O.status), fn.SUBSTR(O.status, 1, 2), O.region.concat(O.status), O.ordered_on.year, O.created_at.minute, O.created_at.to_timestamp(), fn.DATE_TRUNC('month', O.ordered_on), fn.DATE_PART('dow', O.ordered_on), O.id.cast('text'), O.amount.cast('integer'), pw.Case(None, [(O.amount > 100, 'big'), (O.amount > 20, 'mid')], 'small'), pw.Case(O.status, (('paid', 1), ('open', 2)), 0), fn.ROW_NUMBER().over(partition_by=[O.region], order_by=[O.id]), fn.RANK().over(order_by=[O.amount.desc(nulls='LAST')]), fn.SUM(O.amount).over(partition_by=[O.region]), fn.SUM(O.quantity).over(order_by=[O.id], start=pw.Window.preceding(1), end=pw.Window.following(1)), fn.LAG(O.amount, 1).over(order_by=[O.id]), fn.COUNT(O.id).filter(O.status == 'paid').over(partition_by=[O.region]), fn.NULLIF(O.quantity, 0), fn.GREATEST(O.quantity, 3), fn.array_length(O.tags, 1), fn.TO_CHAR(O.ordered_on, 'YYYY-MM'), I.select(fn.COUNT(I.line)).where(I.order == O.id), fn.CONCAT(O.region, '-', O.status), fn.REPLACE(O.status, 'a', 'b'), fn.STRPOS(O.status, 'a'), fn.MOD(O.quantity, 3), fn.FLOOR(O.amount), pw.Value('x'), pw.SQL('1'),
    ]
    totals = [fn.COUNT(O.id), fn.COUNT(O.status.distinct()), fn.SUM(O.amount), fn.AVG(O.quantity), fn.MIN(O.ordered_on), fn.MAX(O.created_at), fn.SUM(O.amount).filter(O.status == 'paid'), fn.BOOL_OR(O.priority), fn.ARRAY_AGG(O.id).order_by(O.id), fn.STRING_AGG(O.status, ',').order_by(O.id), fn.STDDEV(O.quantity), fn.SUM(pw.Case(None, [(O.status == 'paid', 1)], 0))]
    other, boss = O.alias(), E.alias()
    paid = O.select(O.id, O.region).where(O.status == 'paid').cte('paid')
    level = E.select(E.id, E.name, pw.Value(0).alias('depth')).where(E.manager.is_null()).cte('tree', recursive=True, columns=('id', 'name', 'depth'))
    tree = level.union_all(boss.select(boss.id, boss.name, (level.c.depth + 1)).join(level, on=(boss.manager == level.c.id)))
    queries = [O.select(O.id).where(w).order_by(O.id) for w in wheres] + [O.select(O.id, c.alias('x')).order_by(O.id) for c in columns] + [O.select(t.alias('x')) for t in totals] + [O.select(O.region, t.alias('x')).group_by(O.region).order_by(O.region) for t in totals]
    queries += [
        O.select().order_by(O.id), O.select().order_by(O.id).limit(3).offset(2), O.select().order_by(O.id).paginate(2, 3), O.select(O.region).distinct().order_by(O.region), O.select(O.region, O.id).distinct([O.region]).order_by(O.region, O.id), O.select(O, C).join(C).order_by(O.id), O.select(O, C).join(C, JOIN.LEFT_OUTER).where(C.city == 'Paris').order_by(O.id), C.select(C.name, fn.COUNT(O.id).alias('n')).join(O, JOIN.LEFT_OUTER).group_by(C.name).having(fn.COUNT(O.id) > 1).order_by(C.name), O.select(O.id, other.id.alias('o')).join(other, on=(O.region == other.region)).where(O.id < other.id).order_by(O.id, other.id), E.select(E.name, boss.name.alias('boss')).join(boss, JOIN.LEFT_OUTER, on=(E.manager == boss.id)).order_by(E.id), pw.Select([paid], [paid.c.region, fn.COUNT(pw.SQL('*'))]).with_cte(paid).group_by(paid.c.region).order_by(paid.c.region).bind(db), tree.select_from(tree.c.name, tree.c.depth).order_by(tree.c.depth, tree.c.name).bind(db), (O.select(O.id).where(O.status == 'paid') | O.select(O.id).where(O.region == 'EU')).order_by(pw.SQL('1')), O.select(O.id).where(O.status == 'paid') & O.select(O.id).where(O.region == 'EU'), O.select(O.customer) - C.select(C.id), O.select(O.id).where(O.status == 'paid').union_all(I.select(I.order)).order_by(pw.SQL('1')), O.select(O.region, O.status, fn.COUNT(O.id)).group_by(O.region, O.status).order_by(O.region, O.status), O.select(fn.DATE_TRUNC('month', O.created_at).alias('m'), fn.SUM(O.amount)).group_by(pw.SQL('m')).order_by(pw.SQL('m')), I.select(I.sku, O.id, C.name).join(O).join(C).order_by(O.id, I.line), O.select(O.id, fn.unnest(O.tags).alias('t')).order_by(O.id, pw.SQL('t')), I.select().where(I.uid == uuid.UUID(int=1)), O.select(O.id).order_by(O.amount.desc(nulls='first'), O.id), O.select(O.id).order_by(pw.Case(O.region, (('US', 0),), 1), O.id),
    ]
    for number, query in enumerate(queries):
        attempt(number, lambda: list(query.tuples() if hasattr(query, 'tuples') else query))
        db.rollback()
    more = [lambda: O.get_by_id(1), lambda: O.get_or_none(O.id == 100), lambda: O.select().count(), lambda: O.select(O.region).distinct().count(), lambda: O.select().where(O.status == 'paid').exists(), lambda: O.select(fn.MAX(O.amount)).scalar(), lambda: list(C.get_by_id(1).orders.order_by(O.id)), lambda: pw.prefetch(C.select().order_by(C.id), O.select().order_by(O.id)), lambda: O.select().order_by(O.id).first(), lambda: list(O.raw('SELECT id FROM sales.orders WHERE region = %s ORDER BY id', 'EU'))]
    for number, action in enumerate(more):
        attempt(f'more {number}', action)
        db.rollback()

def by_pony():
    import pony
    from pony.orm import Database, Optional, PrimaryKey, Required, Set, Json, avg, count, db_session, desc, distinct, exists, group_concat, max, min, raw_sql, select, sum, coalesce, between, concat
    db = Database()
    class Customer(db.Entity):
        _table_ = ('sales', 'customers')
        id = PrimaryKey(int)
        name = Required(str)
        city = Optional(str)
        born = Optional(dt.date)
        score = Optional(float)
        vip = Optional(bool)
        orders = Set('Order')
    class Order(db.Entity):
        _table_ = ('sales', 'orders')
        id = PrimaryKey(int)
        customer = Optional(Customer, column='customer_id')
        status = Optional(str)
        region = Optional(str)
        amount = Optional(D, 12, 2)
        discount = Optional(float)
        quantity = Optional(int)
        ordered_on = Optional(dt.date)
        created_at = Optional(dt.datetime)
        priority = Optional(bool)
        big = Optional(int, size=64)
        items = Set('Item')
    class Item(db.Entity):
        _table_ = ('sales', 'items')
        order = Required(Order, column='order_id')
        line = Required(int)
        sku = Optional(str)
        price = Optional(D, 10, 3)
        qty = Optional(int, size=64)
        PrimaryKey(order, line)
    db.bind('postgres', host=env['PGHOST'], port=env['PGPORT'], user=env['PGUSER'], password=env['PGPASSWORD'], database=env['PGDATABASE'])
    db.generate_mapping(check_tables=False)
    print('VERSION', f'Pony {pony.__version__}')
    day, x = dt.date(2024, 2, 1), 'paid'
    queries = [
        lambda: select(o for o in Order).order_by(Order.id)[:], lambda: select(o for o in Order if o.status == x).order_by(Order.id)[:], lambda: select(o for o in Order if o.status != x).order_by(Order.id)[:], lambda: select(o.id for o in Order if o.status is None)[:], lambda: select(o.id for o in Order if o.amount > 20 and o.region == 'EU')[:], lambda: select(o.id for o in Order if o.amount > 20 or not o.priority)[:], lambda: select(o.id for o in Order if o.status in ('paid', 'open'))[:], lambda: select(o.id for o in Order if o.status not in ('paid', 'open'))[:], lambda: select(o.id for o in Order if o.status.startswith('pa'))[:], lambda: select(o.id for o in Order if o.status.endswith('d'))[:], lambda: select(o.id for o in Order if 'ai' in o.status)[:], lambda: select(o.id for o in Order if 'ai' not in o.status)[:], lambda: select(o.id for o in Order if o.status.upper() == 'PAID')[:], lambda: select(o.id for o in Order if len(o.status) > 4)[:], lambda: select(o.id for o in Order if o.status[0] == 'p')[:], lambda: select(o.id for o in Order if o.status[1:3] == 'ai')[:], lambda: select(o.id for o in Order if o.ordered_on > day)[:], lambda: select(o.id for o in Order if o.ordered_on.year == 2024 and o.ordered_on.month == 3)[:], lambda: select(o.id for o in Order if o.created_at.date() == dt.date(2024, 3, 15))[:], lambda: select(o.id for o in Order if o.created_at.hour > 12)[:], lambda: select(o.id for o in Order if between(o.amount, 1, 99))[:], lambda: select(o.id for o in Order if o.amount * o.quantity > 100)[:], lambda: select(o.id for o in Order if o.quantity / 2 > 1)[:], lambda: select(o.id for o in Order if o.quantity // 2 > 1)[:], lambda: select(o.id for o in Order if o.quantity % 2 == 1)[:], lambda: select(o.id for o in Order if abs(o.amount) > 5)[:], lambda: select(o.id for o in Order if o.ordered_on - dt.timedelta(days=3) > day)[:], lambda: select(o.id for o in Order if o.customer.city == 'Paris')[:], lambda: select((o.id, o.customer.name) for o in Order)[:], lambda: select((o.id, i.sku) for o in Order for i in o.items)[:], lambda: select((c, count(c.orders)) for c in Customer).order_by(1)[:], lambda: select((o.region, sum(o.amount), avg(o.quantity)) for o in Order).order_by(1)[:], lambda: select((o.region, o.status, count()) for o in Order)[:], lambda: select((o.region, count(o)) for o in Order if count(o) > 2)[:], lambda: select((o.ordered_on.year, sum(o.amount)) for o in Order)[:], lambda: select((o.region, group_concat(o.id, sep='-')) for o in Order if o.id == 4)[:], lambda: select(o.region for o in Order)[:], lambda: select(o.region for o in Order).without_distinct()[:], lambda: count(o for o in Order), lambda: sum(o.amount for o in Order if o.status == 'paid'), lambda: max(o.created_at for o in Order), lambda: min(o.ordered_on for o in Order), lambda: avg(o.discount for o in Order), lambda: exists(o for o in Order if o.amount > 500), lambda: select(c for c in Customer if exists(o for o in c.orders if o.amount > 50)).order_by(Customer.id)[:], lambda: select(c for c in Customer if not c.orders).order_by(Customer.id)[:], lambda: select(c for c in Customer if sum(c.orders.amount) > 60).order_by(Customer.id)[:], lambda: select(c for c in Customer if 'paid' in c.orders.status).order_by(Customer.id)[:], lambda: select(o for o in Order if o.amount == max(p.amount for p in Order))[:], lambda: select(o for o in Order if o.customer in select(c for c in Customer if c.city == 'Paris')).order_by(Order.id)[:], lambda: select(o for o in Order).order_by(lambda o: (desc(o.amount), o.id)).limit(3, offset=1)[:], lambda: select(o for o in Order).order_by(Order.id).page(2, 3)[:], lambda: select((o.id, coalesce(o.amount, 0)) for o in Order)[:], lambda: select("(o.id, 'a' if o.amount > 20 else 'b') for o in Order")[:], lambda: select(concat(o.region, '-', o.status) for o in Order)[:], lambda: select((o.id, str(o.amount)) for o in Order)[:], lambda: Order[1].customer.name, lambda: Order.get(id=2), lambda: Order.select(lambda o: o.priority).order_by(Order.id)[:], lambda: Customer[1].orders.select().order_by(Order.id)[:], lambda: Customer[1].orders.count(), lambda: select(o for o in Order if raw_sql('o.amount > 50')).order_by(Order.id)[:], lambda: select((i.sku, sum(i.price * i.qty)) for i in Item).order_by(-2)[:], lambda: select(o for o in Order if o.status == x).order_by(Order.id).prefetch(Customer)[:], lambda: select((a.id, b.id) for a in Order for b in Order if a.region == b.region and a.id < b.id)[:], lambda: select(o.status.strip() for o in Order)[:], lambda: select(int(o.amount) for o in Order)[:], lambda: select(float(o.amount) for o in Order)[:],
    ]
    for number, query in enumerate(queries):
        with db_session:
            attempt(number, query)

def by_tortoise():
    import tortoise
    from tortoise import Tortoise, fields
    from tortoise.models import Model
    from tortoise.expressions import Case, F, Q, RawSQL, Subquery, When
    from tortoise.functions import Avg, Coalesce, Concat, Count, Length, Lower, Max, Min, Sum, Trim, Upper
    import types
    class Customer(Model):
        id = fields.IntField(primary_key=True)
        name = fields.TextField()
        city = fields.TextField(null=True)
        born = fields.DateField(null=True)
        vip = fields.BooleanField(null=True)
        class Meta:
            table, schema = 'customers', 'sales'
    class Order(Model):
        id = fields.IntField(primary_key=True)
        customer = fields.ForeignKeyField('corpus.Customer', related_name='orders', db_constraint=False)
        status = fields.CharField(20, null=True)
        region = fields.TextField()
        amount = fields.DecimalField(12, 2, null=True)
        discount = fields.FloatField(null=True)
        quantity = fields.IntField(null=True)
        ordered_on = fields.DateField(null=True)
        shipped_at = fields.DatetimeField(null=True)
        priority = fields.BooleanField(null=True)
        big = fields.BigIntField(null=True)
        class Meta:
            table, schema = 'orders', 'sales'
    module = types.ModuleType('corpus_models')
    module.Customer, module.Order = Customer, Order
    Customer.__module__ = Order.__module__ = 'corpus_models'
    sys.modules['corpus_models'] = module
    print('VERSION', f'Tortoise ORM {tortoise.__version__}')
    O, C = Order, Customer
    filters = [dict(id=3), dict(id__gt=3), dict(id__in=[1, 2]), dict(id__not_in=[1, 2]), dict(id__range=(2, 5)), dict(status='paid'), dict(status__not='paid'), dict(status__isnull=True), dict(status__not_isnull=True), dict(status__contains='ai'), dict(status__icontains='AI'), dict(status__startswith='pa'), dict(status__istartswith='PA'), dict(status__endswith='d'), dict(status__iendswith='D'), dict(status__iexact='PAID'), dict(status__posix_regex='^p'), dict(amount__gte=D('20.5')), dict(amount__lt=100), dict(discount=0.25), dict(quantity__gt=2), dict(ordered_on=dt.date(2024, 2, 29)), dict(ordered_on__gte=dt.date(2024, 2, 1)), dict(ordered_on__year=2024), dict(ordered_on__month=3), dict(ordered_on__day=15), dict(ordered_on__quarter=1), dict(ordered_on__week=9), dict(shipped_at__gt=dt.datetime(2024, 3, 1, tzinfo=utc)), dict(shipped_at__hour=9), dict(priority=True), dict(big__gt=2**40), dict(customer__city='Paris'), dict(customer__name__icontains='b'), dict(customer_id=1), dict(customer__vip=False, status='paid')]
    async def run():
        await Tortoise.init(db_url=f"asyncpg://{env['PGUSER']}:{env['PGPASSWORD']}@{env['PGHOST']}:{env['PGPORT']}/{env['PGDATABASE']}", modules={'corpus': ['corpus_models']})
        queries = [O.filter(**f).order_by('id').values_list('id', flat=True) for f in filters] + [O.exclude(**f).order_by('id').values_list('id', flat=True) for f in filters[::4]]
        for a in [Upper('status'), Lower('region'), Length('status'), Trim('status'), Coalesce('quantity', 0), Concat('region', '-', 'status'), F('quantity') + 1, F('amount') * 2, Case(When(amount__gte=100, then='big'), default='small'), Count('id'), RawSQL('amount * 2')]:
            queries.append(O.annotate(x=a).order_by('id').values('id', 'x'))
        for a in [Count('id'), Count('status', distinct=True), Sum('amount'), Avg('quantity'), Min('ordered_on'), Max('amount'), Count('id', _filter=Q(status='paid')), Sum('quantity', _filter=Q(priority=True))]:
            queries += [O.annotate(x=a).group_by('region').order_by('region').values('region', 'x')]
        queries += [
            O.all().order_by('id'), O.all().order_by('-amount', 'id').limit(3).offset(1), O.filter(Q(status='paid') | Q(region='US')).order_by('id'), O.filter(Q(status='paid'), ~Q(region='EU')).order_by('id'), O.filter(quantity__lte=F('id')).order_by('id'), O.all().distinct().values('region'), O.all().count(), O.filter(status='paid').exists(), O.get_or_none(id=1), O.filter(status='paid').order_by('id').first(), O.all().prefetch_related('customer').order_by('id'), O.all().select_related('customer').order_by('id'), C.all().prefetch_related('orders').order_by('id'), C.filter(orders__status='paid').distinct().order_by('id'), C.annotate(n=Count('orders')).filter(n__gt=1).order_by('id'), C.annotate(t=Sum('orders__amount')).order_by('id').values('id', 't'), O.filter(id__in=Subquery(O.filter(region='EU').values('id'))).order_by('id'), O.all().only('id', 'status').order_by('id'), O.annotate(n=Count('id')).group_by('region', 'status').order_by('region', 'status').values('region', 'status', 'n'), O.annotate(n=Count('id')).filter(n__gt=1).group_by('region').values('region', 'n'), O.in_bulk([1, 2], 'id'), O.all().order_by('customer__name', 'id').values('id', 'customer__name'),
        ]
        for number, query in enumerate(queries):
            try:
                await query
            except Exception as error:
                print('FAILED', number, str(error).splitlines()[0][:200])
        await Tortoise.close_connections()
    asyncio.run(run())

{'peewee': by_peewee, 'pony': by_pony, 'tortoise': by_tortoise}[sys.argv[1]]()
