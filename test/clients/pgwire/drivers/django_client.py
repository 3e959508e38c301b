"""Django's ORM, with parameters that the server binds and that the client writes: filters, dates, aggregates, windows,
subqueries and server-side cursors. One line of JSON a step."""

import datetime
import io
import json
import os
import django
from django.conf import settings

e = os.environ
database = {
    "ENGINE": "django.db.backends.postgresql",
    "NAME": e["PGDATABASE"],
    "USER": e["PGUSER"],
    "PASSWORD": e["PGPASSWORD"],
    "HOST": e["PGHOST"],
    "PORT": e["PGPORT"],
}
options = {"server": True, "client": False}
settings.configure(
    DATABASES={
        # Nothing of the tests is in it; Django asks for one.
        "default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"},
        **{
            name: {**database, "OPTIONS": {"options": "-c search_path=sales", "server_side_binding": binds}}
            for name, binds in options.items()
        },
    },
    USE_TZ=True,
    INSTALLED_APPS=["django.contrib.postgres"],
)
django.setup()

from django.contrib.postgres.aggregates import ArrayAgg, StringAgg
from django.core.management import call_command
from django.db import DatabaseError, connections, models, transaction
from django.db.models import Avg, Case, Count, Exists, F, Max, Min, OuterRef, Q, StdDev, Subquery, Sum, Value, When, Window
from django.db.models.functions import (
    Cast, Coalesce, Concat, ExtractWeekDay, ExtractYear, Length, Lower, Now, Rank, RowNumber, TruncDay, TruncHour, TruncMonth,
    TruncQuarter, TruncWeek, TruncYear, Upper,
)


class Region(models.Model):
    name = models.TextField(primary_key=True)

    class Meta:
        managed = False
        db_table = "regions"
        app_label = "sales"


class Order(models.Model):
    id = models.BigIntegerField(primary_key=True)
    region = models.ForeignKey(Region, models.DO_NOTHING, db_column="region")
    email = models.TextField()
    amount = models.DecimalField(max_digits=10, decimal_places=2)
    qty = models.IntegerField()
    ratio = models.FloatField()
    paid = models.BooleanField()
    day = models.DateField()
    placed_at = models.DateTimeField()
    note = models.TextField(null=True)
    uid = models.UUIDField()
    payload = models.BinaryField(null=True)

    class Meta:
        managed = False
        db_table = "orders"
        app_label = "sales"


def plain(value):
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (bytes, memoryview)):
        return bytes(value).hex()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, (list, tuple)) or hasattr(value, "_fields") or isinstance(value, models.QuerySet):
        return [plain(item) for item in value]
    return str(value)


def step(name, action):
    try:
        line = {"step": name, "value": plain(action())}
    except DatabaseError as error:
        line = {"step": name, "error": error.__cause__.sqlstate}
    print(json.dumps(line), flush=True)


def inspected(using):
    out = io.StringIO()
    call_command("inspectdb", "orders", "regions", database=using, stdout=out)
    # The comment of a masked column is a test's of its own.
    return [line for line in out.getvalue().splitlines() if "email" not in line]


for using in options:
    orders = Order.objects.using(using).order_by("id")
    unordered = Order.objects.using(using).order_by()
    regions = Region.objects.using(using).order_by("name")
    utc = datetime.timezone.utc
    step(f"django {using} inspected", lambda: inspected(using))
    step(f"django {using} types", lambda: orders.values_list()[:10])
    step(f"django {using} get", lambda: [orders.get(id=3).email, orders.filter(id__in=[1, 2, 3]).count(), orders.in_bulk([3])[3].region_id])
    step(f"django {using} filters", lambda: orders.filter(Q(region="east") | ~Q(qty__gt=0), note__isnull=False, amount__gte="10.5").values_list("id", "email")[2:6])
    step(f"django {using} texts", lambda: [
        unordered.filter(note__startswith="note 1").count(), unordered.filter(note__icontains="TE 9").count(),
        unordered.filter(note__iexact="NOTE 7").count(), unordered.filter(note__regex=r"^note [12]+$").count(),
        unordered.filter(note__iregex=r"^NOTE 3").count(), unordered.filter(email__contains="@").count(),
    ])
    step(f"django {using} dates", lambda: [
        unordered.filter(day__year=2024).count(), unordered.filter(day__month=2).count(), unordered.filter(day__week_day=2).count(),
        unordered.filter(day__quarter=3).count(), unordered.filter(day__range=(datetime.date(2024, 2, 1), datetime.date(2024, 2, 29))).count(),
        unordered.filter(placed_at__date=datetime.date(2024, 1, 2)).count(), unordered.filter(placed_at__hour=5).count(),
        unordered.filter(placed_at__lt=datetime.datetime(2024, 1, 3, tzinfo=utc)).count(),
    ])
    for trunc in (TruncDay, TruncWeek, TruncMonth, TruncQuarter, TruncYear):
        step(f"django {using} {trunc.__name__}", lambda: unordered.annotate(at=trunc("day")).values("at").annotate(n=Count("id")).order_by("at")[:3])
    step(f"django {using} TruncHour", lambda: unordered.annotate(at=TruncHour("placed_at")).values("at").annotate(n=Count("id")).order_by("at")[:3])
    step(f"django {using} aggregates", lambda: unordered.aggregate(
        n=Count("*"), paid=Count("id", filter=Q(paid=True)), total=Sum("amount"), least=Min("day"), most=Max("placed_at"), days=Count("day", distinct=True)))
    step(f"django {using} averages", lambda: {key: round(float(value), 6) for key, value in unordered.aggregate(mean=Avg("amount"), spread=StdDev("ratio")).items()})
    step(f"django {using} groups", lambda: unordered.values("region").annotate(n=Count("id"), total=Sum("amount")).filter(n__gt=10).order_by("-total"))
    step(f"django {using} arrays", lambda: unordered.filter(id__lt=12).values("region").annotate(
        ids=ArrayAgg("id", ordering="id"), notes=StringAgg("note", delimiter=", ", ordering="id")).order_by("region"))
    step(f"django {using} expressions", lambda: orders.annotate(
        size=Case(When(amount__gt=50, then=Value("large")), default=Value("small")), text=Concat(Upper("region_id"), Value("/"), Cast("id", models.TextField()), output_field=models.TextField()),
        said=Coalesce("note", Value("-", output_field=models.TextField())), length=Length(Lower("note")), year=ExtractYear("day"), weekday=ExtractWeekDay("day"), twice=F("qty") * 2 + 1,
    ).values_list("size", "text", "said", "length", "year", "weekday", "twice")[:6])
    step(f"django {using} windows", lambda: orders.filter(id__lt=13).annotate(
        place=Window(Rank(), partition_by="region", order_by=F("amount").desc()), row=Window(RowNumber(), order_by="id"),
        running=Window(Sum("qty"), order_by="id")).values_list("id", "place", "row", "running"))
    step(f"django {using} filtered window", lambda: orders.annotate(place=Window(RowNumber(), partition_by="region", order_by="id")).filter(place=1).values_list("region", "id"))
    step(f"django {using} subqueries", lambda: regions.annotate(
        first=Subquery(orders.filter(region=OuterRef("name")).values("id")[:1]), sold=Exists(orders.filter(region=OuterRef("name"), paid=True)),
    ).values_list("name", "first", "sold"))
    step(f"django {using} joins", lambda: [orders.select_related("region").filter(region__name__in=["east"])[0].region.name,
        unordered.values("region__name").annotate(n=Count("id")).order_by("region__name")])
    step(f"django {using} distinct on", lambda: Order.objects.using(using).order_by("region", "-id").distinct("region").values_list("region", "id"))
    step(f"django {using} union", lambda: orders.order_by().filter(id=2).values_list("id").union(orders.order_by().filter(id__in=[2, 3]).values_list("id")).order_by("id"))
    step(f"django {using} dates of", lambda: [len(unordered.dates("day", "month")), len(unordered.datetimes("placed_at", "day"))])
    step(f"django {using} iterator", lambda: sum(order.id for order in orders.iterator(chunk_size=300)))
    step(f"django {using} raw", lambda: [order.email for order in Order.objects.using(using).raw("SELECT * FROM orders WHERE id = %s", [3])])
    step(f"django {using} cursor", lambda: [c.fetchall() for c in [connections[using].cursor()] if c.execute("SELECT count(*), %s::text FROM orders", ["x"]) or True])
    step(f"django {using} now", lambda: unordered.filter(placed_at__lt=Now()).exists())
    step(f"django {using} bytes", lambda: orders.filter(payload=b"\0\0\0\x0b").values_list("id"))
    step(f"django {using} explained", lambda: len(unordered.filter(region="east").explain(format="json")) > 0)

    def nested():
        with transaction.atomic(using=using):
            try:
                with transaction.atomic(using=using):
                    list(unordered.extra(where=["1 / 0 = 1"]))
            except DatabaseError:
                pass
            return unordered.count()

    step(f"django {using} savepoint", nested)
    step(f"django {using} no column", lambda: list(unordered.extra(where=["nothing = 1"])))
