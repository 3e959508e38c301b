"""Django writes what its users ask for of the corpus' tables. Prints a line for each query that fails."""
import datetime as dt, decimal, os, sys, types, uuid
import django
from django.conf import settings

env = os.environ
# The models' application, which has no folder of its own.
corpus = types.ModuleType('corpus')
corpus.__path__ = [os.path.dirname(__file__)]
sys.modules['corpus'] = corpus
settings.configure(
    USE_TZ=True,
    TIME_ZONE='UTC',
    INSTALLED_APPS=['django.contrib.postgres', 'corpus'],
    DEFAULT_AUTO_FIELD='django.db.models.BigAutoField',
    DATABASES={'default': {'ENGINE': 'django.db.backends.postgresql', 'HOST': env['PGHOST'], 'PORT': env['PGPORT'], 'NAME': env['PGDATABASE'], 'USER': env['PGUSER'], 'PASSWORD': env['PGPASSWORD'], 'DISABLE_SERVER_SIDE_CURSORS': True}},
)
django.setup()
from django.contrib.postgres.aggregates import ArrayAgg, BoolAnd, BoolOr, JSONBAgg, StringAgg, Corr, RegrSlope
from django.contrib.postgres.fields import ArrayField
from django.core.paginator import Paginator
from django.db import models
from django.db.models import Avg, Case, CharField, Count, DecimalField, Exists, ExpressionWrapper, F, FilteredRelation, FloatField, IntegerField, Max, Min, OuterRef, Prefetch, Q, StdDev, Subquery, Sum, Value, Variance, When, Window
from django.db.models import functions as fn

class Model(models.Model):
    class Meta:
        abstract = True
        app_label = 'corpus'

class Customer(Model):
    id = models.IntegerField(primary_key=True)
    name = models.TextField()
    email = models.TextField(null=True)
    city = models.TextField(null=True)
    born = models.DateField(null=True)
    score = models.FloatField(null=True)
    vip = models.BooleanField(null=True)
    class Meta(Model.Meta):
        managed = False
        db_table = 'customers'

class Order(Model):
    id = models.IntegerField(primary_key=True)
    customer = models.ForeignKey(Customer, models.DO_NOTHING, related_name='orders')
    status = models.CharField(max_length=20, null=True)
    region = models.TextField()
    amount = models.DecimalField(max_digits=12, decimal_places=2, null=True)
    discount = models.FloatField(null=True)
    quantity = models.IntegerField(null=True)
    ordered_on = models.DateField(null=True)
    created_at = models.DateTimeField(null=True)
    shipped_at = models.DateTimeField(null=True)
    priority = models.BooleanField(null=True)
    tags = ArrayField(models.TextField(), null=True)
    payload = models.TextField(null=True)
    big = models.BigIntegerField(null=True)
    class Meta(Model.Meta):
        managed = False
        db_table = 'orders'

class Item(Model):
    pk = models.CompositePrimaryKey('order_id', 'line')
    order = models.ForeignKey(Order, models.DO_NOTHING, related_name='items')
    line = models.IntegerField()
    sku = models.TextField()
    price = models.DecimalField(max_digits=10, decimal_places=3)
    qty = models.BigIntegerField()
    weight = models.FloatField(null=True)
    uid = models.UUIDField(null=True)
    class Meta(Model.Meta):
        managed = False
        db_table = 'items'

class Employee(Model):
    id = models.IntegerField(primary_key=True)
    name = models.TextField()
    manager = models.ForeignKey('self', models.DO_NOTHING, null=True, related_name='staff')
    dept = models.TextField()
    hired = models.DateTimeField(null=True)
    class Meta(Model.Meta):
        managed = False
        db_table = 'hr"."employees'

D, utc = decimal.Decimal, dt.timezone.utc
O, C, I, E = Order.objects, Customer.objects, Item.objects, Employee.objects
at = lambda *parts: dt.datetime(*parts, tzinfo=utc)
filters = [
    dict(id=3), dict(id__gt=3), dict(id__range=(2, 5)), dict(id__in=[1, 2, 3]), dict(big__gte=2**40), dict(pk=1),
    dict(status='paid'), dict(status__iexact='PAID'), dict(status__contains='ai'), dict(status__icontains='AI'), dict(status__startswith='pa'), dict(status__istartswith='PA'), dict(status__endswith='id'), dict(status__iendswith='ID'), dict(status__regex='^p.*d$'), dict(status__iregex='^P'), dict(status__isnull=True), dict(status=None), dict(status__in=['paid', 'open']), dict(status__contains='%'), dict(status__contains=F('region')), dict(region__lt='F'),
    dict(amount__gt=D('20.5')), dict(amount__range=(1, 100)), dict(amount=50), dict(discount__gt=0.1), dict(discount=0.25), dict(quantity__lte=F('id')), dict(amount__gt=F('discount') * 100), dict(quantity__gt=F('id') + 1),
    dict(ordered_on=dt.date(2024, 2, 29)), dict(ordered_on__gte=dt.date(2024, 2, 1)), dict(ordered_on__year=2024), dict(ordered_on__year__gte=2024), dict(ordered_on__month=3), dict(ordered_on__day__in=[1, 15]), dict(ordered_on__week_day=6), dict(ordered_on__iso_week_day=5), dict(ordered_on__week=9), dict(ordered_on__quarter=1), dict(ordered_on__iso_year=2024),
    dict(shipped_at=at(2024, 3, 20, 9, 30)), dict(shipped_at__gt=at(2024, 3, 1)), dict(shipped_at__date=dt.date(2024, 3, 20)), dict(shipped_at__year=2024), dict(shipped_at__hour__gte=9), dict(shipped_at__minute=30), dict(shipped_at__second=0), dict(shipped_at__time__gt=dt.time(9)), dict(shipped_at__range=(at(2024, 1, 1), at(2024, 2, 1))), dict(shipped_at__month=3),
    dict(priority=True), dict(priority=False), dict(priority__isnull=False), dict(tags__contains=['a']), dict(tags__overlap=['a', 'c']), dict(tags__contained_by=['a', 'b']), dict(tags__len=2), dict(tags__0='a'), dict(tags__0_1=['a']), dict(tags=['a', 'b']),
    dict(customer__city='Paris'), dict(customer__name__icontains='b'), dict(customer=1), dict(customer__in=[1, 2]), dict(items__sku='A-100'), dict(items__price__gt=5), dict(items__isnull=True), dict(customer__vip=False, status='paid'), dict(items__uid=uuid.UUID(int=1)),dict(customer__orders__region='EU'),
]
complex_filters = [
    Q(status='paid') | Q(region='US'), Q(status='paid') & ~Q(region='EU'), ~Q(status='paid'), ~Q(status__isnull=True), Q(status='paid') ^ Q(region='EU'), ~Q(items__sku='A-100'), ~Q(customer__city='Paris'), Q(id__in=Item.objects.filter(price__gt=5).values('order_id')), ~Q(id__in=Item.objects.values('order_id')), Exists(Item.objects.filter(order_id=OuterRef('pk'))), ~Exists(Item.objects.filter(order_id=OuterRef('pk'), qty__gt=3)), Q(amount__gt=Subquery(Order.objects.filter(region=OuterRef('region')).order_by('id').values('amount')[:1])), Q(customer__in=Customer.objects.filter(city='Paris')), Q(pk__in=[]) | Q(id=1), Q(status__in=['paid', None]),
]
annotations = [
    F('amount') + 1, F('amount') * F('quantity'), F('quantity') / 2, F('quantity') % 2, F('id') - F('quantity'), -F('quantity'), ExpressionWrapper(F('amount') / 3, output_field=DecimalField(max_digits=20, decimal_places=4)), F('quantity').bitand(1), F('quantity').bitor(1),
    Value('x'), Value(1), Value(None, output_field=IntegerField()), Value(D('1.50')), Value(dt.date(2024, 1, 1)),
    fn.Coalesce('amount', Value(D(0))), fn.Greatest('quantity', 'id'), fn.Least('quantity', 'id'), fn.NullIf('status', Value('paid')), fn.Cast('id', CharField()), fn.Cast('amount', IntegerField()), fn.Cast('quantity', FloatField()), fn.Cast('ordered_on', models.DateTimeField()), fn.Cast('id', DecimalField(max_digits=10, decimal_places=2)), fn.Collate('status', 'C'),
    fn.Upper('status'), fn.Lower('region'), fn.Length('status'), fn.Concat('region', Value('-'), 'status', output_field=CharField()), fn.Concat('region', 'id', output_field=CharField()), fn.Substr('status', 2, 2), fn.Left('status', 2), fn.Right('status', 2), fn.Replace('status', Value('a'), Value('b')), fn.Reverse('status'), fn.Repeat('region', 2), fn.LPad('status', 10, Value('*')), fn.RPad('status', 10, Value('*')), fn.Trim('status'), fn.LTrim('status'), fn.StrIndex('status', Value('i')), fn.MD5('status'), fn.Ord('region'),
    fn.Abs('amount'), fn.Ceil('discount'), fn.Floor('amount'), fn.Round('amount'), fn.Round('amount', precision=1), fn.Sqrt('quantity'), fn.Power('quantity', 2), fn.Mod('quantity', 3), fn.Sign('amount'), fn.Ln(Value(2.0)), fn.Exp('discount'), fn.Log(10, fn.Greatest('quantity', 1)), fn.Sin('discount'), fn.Pi(), fn.Degrees('discount'),
    fn.ExtractYear('ordered_on'), fn.ExtractMonth('shipped_at'), fn.ExtractDay('ordered_on'), fn.ExtractWeek('ordered_on'), fn.ExtractWeekDay('ordered_on'), fn.ExtractIsoWeekDay('ordered_on'), fn.ExtractQuarter('ordered_on'), fn.ExtractHour('shipped_at'), fn.ExtractMinute('shipped_at'), fn.ExtractSecond('shipped_at'), fn.ExtractIsoYear('ordered_on'),
    fn.TruncYear('ordered_on'), fn.TruncMonth('ordered_on'), fn.TruncQuarter('ordered_on'), fn.TruncWeek('ordered_on'), fn.TruncDay('shipped_at'), fn.TruncHour('shipped_at'), fn.TruncMinute('shipped_at'), fn.TruncDate('shipped_at'), fn.TruncTime('shipped_at'), fn.TruncMonth('shipped_at'), fn.Trunc('shipped_at', 'week'), fn.TruncDay('shipped_at', tzinfo=__import__('zoneinfo').ZoneInfo('Europe/Berlin')),
    Case(When(amount__gt=100, then=Value('big')), When(amount__isnull=True, then=Value('none')), default=Value('small')), Case(When(status='paid', then=F('amount')), default=Value(D(0))), Case(When(Q(region='EU') | Q(priority=True), then=1), default=0, output_field=IntegerField()),
    Exists(Item.objects.filter(order_id=OuterRef('pk'))), Subquery(Item.objects.filter(order_id=OuterRef('pk')).order_by('line').values('sku')[:1]), Subquery(Item.objects.filter(order_id=OuterRef('pk')).values('order_id').annotate(t=Sum('price')).values('t')), Q(amount__gt=20), fn.JSONObject(id='id', st='status'),
    Window(fn.RowNumber(), partition_by='region', order_by='id'), Window(fn.Rank(), order_by=F('amount').desc(nulls_last=True)), Window(fn.DenseRank(), order_by='region'), Window(fn.Lag('amount'), order_by='id'), Window(fn.Lead('amount', 2, D(0)), order_by='id'), Window(fn.FirstValue('status'), partition_by='region', order_by='id'), Window(fn.NthValue('id', 2), partition_by='region', order_by='id'), Window(fn.Ntile(3), order_by='id'), Window(fn.CumeDist(), order_by='id'), Window(fn.PercentRank(), order_by='id'), Window(Sum('amount'), partition_by='region', order_by='id'), Window(Avg('quantity'), order_by='id', frame=models.RowRange(start=-1, end=1)), Window(Count('*')), Window(Sum('quantity'), order_by='id', frame=models.ValueRange(start=None, end=0)),
    Count('items'), Sum('items__price'), Max('items__qty'), Count('items', filter=Q(items__qty__gt=3)), F('tags__0'), F('customer__name'),
]
aggregates = [
    Count('*'), Count('status', distinct=True), Sum('amount'), Sum('big'), Avg('quantity'), Avg('amount'), Min('ordered_on'), Max('created_at'), StdDev('quantity'), StdDev('discount', sample=True), Variance('quantity'), Sum('amount', filter=Q(status='paid')), Count('id', filter=Q(priority=True)), Sum(F('amount') * F('quantity')), Sum(Case(When(status='paid', then=1), default=0)), Sum('quantity', default=0), Avg('quantity', distinct=True), Max('customer__score'), Sum('items__price'), Count('items__sku', distinct=True),
    ArrayAgg('id', ordering='id'), ArrayAgg('status', distinct=True, ordering='status'), StringAgg('status', delimiter=',', ordering='id'), BoolAnd('priority'), BoolOr('priority'), JSONBAgg('status', ordering='id'), Corr('discount', 'quantity'), RegrSlope('discount', 'quantity'), ArrayAgg('id', filter=Q(status='paid'), ordering='-id'), Sum('amount') / Count('id'), Max('amount') - Min('amount'), fn.Round(Avg('amount'), 2), fn.Coalesce(Sum('amount'), Value(D(0))),
]
vals = lambda query: list(query.order_by('id').values_list('id', 'x'))
queries = [lambda f=f: list(O.filter(**f).order_by('id').values_list('id', flat=True)) for f in filters]
queries += [lambda f=f: list(O.exclude(**f).order_by('id').values_list('id', flat=True)) for f in filters[:12] + filters[-10:]]
queries += [lambda q=q: list(O.filter(q).order_by('id').values_list('id', flat=True)) for q in complex_filters]
queries += [lambda a=a: vals(O.annotate(x=a)) for a in annotations]
queries += [lambda a=a: O.aggregate(x=a) for a in aggregates]
queries += [lambda a=a: list(O.values('region').annotate(x=a).order_by('region')) for a in aggregates]
queries += [
    lambda: list(O.order_by('id')), lambda: O.get(id=1), lambda: O.order_by('id').first(), lambda: O.order_by('id').last(), lambda: O.count(), lambda: O.filter(status='paid').exists(), lambda: list(O.order_by('id')[2:5]), lambda: list(O.order_by('-amount', 'id')), lambda: list(O.order_by(F('amount').desc(nulls_last=True), 'id')), lambda: O.in_bulk([1, 2]), lambda: O.earliest('id'), lambda: O.latest('id'), lambda: list(O.order_by('id').only('id', 'status')), lambda: list(O.order_by('id').defer('payload', 'tags')), lambda: list(O.order_by('customer__name', 'id')), lambda: list(O.order_by(fn.Lower('status'), 'id').values('id')), lambda: list(O.order_by('id').reverse().values('id')),
    lambda: list(O.values('region').distinct().order_by('region')), lambda: list(O.order_by('region', '-id').distinct('region')), lambda: list(O.values_list('region', 'status').distinct().order_by('region', 'status')), lambda: O.values('region').distinct().count(), lambda: list(O.dates('ordered_on', 'month')), lambda: list(O.datetimes('shipped_at', 'day')), lambda: list(O.dates('ordered_on', 'year', order='DESC')),
    lambda: list(O.select_related('customer').order_by('id')), lambda: list(O.prefetch_related('items').order_by('id')), lambda: list(C.prefetch_related(Prefetch('orders', queryset=O.filter(status='paid').order_by('id'))).order_by('id')), lambda: list(E.select_related('manager__manager').order_by('id')), lambda: list(E.annotate(n=Count('staff')).order_by('id')), lambda: list(E.filter(manager__name='root').order_by('id')), lambda: list(E.filter(staff__isnull=True).order_by('id')), lambda: list(C.filter(orders__status='paid').distinct().order_by('id')), lambda: list(C.annotate(n=Count('orders', distinct=True), t=Sum('orders__items__price')).order_by('id')), lambda: list(C.annotate(n=Count('orders')).filter(n__gt=1).order_by('id')), lambda: list(C.annotate(p=FilteredRelation('orders', condition=Q(orders__status='paid'))).values('id', 'p__id').order_by('id', 'p__id')), lambda: list(I.select_related('order__customer').order_by('order_id', 'line')),
    lambda: list(O.values('region', 'status').annotate(n=Count('id')).order_by('region', 'status')), lambda: list(O.values('region').annotate(n=Count('id'), t=Sum('amount')).filter(n__gt=2).order_by('-t')), lambda: list(O.annotate(m=fn.TruncMonth('ordered_on')).values('m').annotate(n=Count('id')).order_by('m')), lambda: list(O.annotate(y=fn.ExtractYear('ordered_on')).values('y').annotate(t=Sum('amount')).order_by('y')), lambda: list(O.values('customer__city').annotate(t=Sum('amount')).order_by('customer__city')), lambda: O.annotate(n=Count('items')).aggregate(Avg('n')), lambda: O.values('region').annotate(n=Count('id')).aggregate(Max('n')), lambda: list(O.annotate(rank=Window(fn.RowNumber(), partition_by='region', order_by='id')).filter(rank=1).order_by('id').values('id')),
    lambda: list(O.filter(status='paid').values('id').union(O.filter(region='EU').values('id')).order_by('id')), lambda: list(O.values('id').union(I.values('order_id'), all=True).order_by('id')), lambda: list(O.filter(status='paid').values('id').intersection(O.filter(region='EU').values('id')).order_by('id')), lambda: list(O.values('id').difference(O.filter(region='EU').values('id')).order_by('id')), lambda: O.values('id').union(C.values('id')).count(), lambda: list(Paginator(O.order_by('id'), 3).page(2)), lambda: (O.filter(status='paid') | O.filter(region='US')).count(), lambda: list((O.filter(status='paid') & O.filter(region='EU')).order_by('id')),
    lambda: list(O.annotate(s=Sum('items__price'), c=Count('items')).filter(Q(s__gt=10) | Q(c=0)).order_by('id').values('id')), lambda: list(O.alias(t=F('amount') * 2).filter(t__gt=50).order_by('id').values('id')), lambda: list(O.raw('SELECT id, status FROM orders WHERE region = %s ORDER BY id', ['EU'])), lambda: list(O.extra(where=['amount > %s'], params=[10]).order_by('id')), lambda: list(C.filter(email__isnull=False).order_by('-born', 'id').values('name', 'born')), lambda: list(I.filter(pk=(1, 1))), lambda: list(I.filter(pk__in=[(1, 1), (1, 2)]).order_by('line')), lambda: list(I.values('sku').annotate(n=Count('pk')).order_by('sku')), lambda: list(I.values('sku').annotate(p=Sum(F('price') * F('qty'))).order_by('sku')), lambda: list(I.filter(weight__gt=0.3).order_by('order_id')), lambda: list(I.filter(qty__gt=F('order_id')).order_by('order_id', 'line')),
]
print('VERSION', f'Django {django.get_version()}')
for number, query in enumerate(queries):
    try:
        query()
    except Exception as error:
        print('FAILED', number, str(error).splitlines()[0][:200])
