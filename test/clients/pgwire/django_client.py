"""Django: a table is inspected, and its ORM reads with parameters that the server binds."""

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
    "OPTIONS": {"options": "-c search_path=sales", "server_side_binding": True},
}
settings.configure(DATABASES={"default": database}, USE_TZ=True, INSTALLED_APPS=[])
django.setup()

from django.core.management import call_command
from django.db import models
from django.db.models import Count, Sum
from django.db.models.functions import TruncMonth


class Order(models.Model):
    id = models.BigIntegerField(primary_key=True)
    region = models.TextField()
    email = models.TextField()
    amount = models.DecimalField(max_digits=10, decimal_places=2)
    day = models.DateField()

    class Meta:
        managed = False
        db_table = "orders"
        app_label = "sales"


call_command("inspectdb", "orders")
print("east", Order.objects.filter(region="east").aggregate(n=Count("*"), total=Sum("amount")))
months = Order.objects.annotate(month=TruncMonth("day")).values("month").annotate(n=Count("id")).order_by("month")
print("months", len(months), months[0]["month"])
print("one", Order.objects.get(id=7).email, Order.objects.filter(id__in=[1, 2, 3]).count())
print("plan", Order.objects.filter(region="east").explain().splitlines()[0].split("  ")[0])
