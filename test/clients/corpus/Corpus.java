import static org.jooq.impl.DSL.*;

import jakarta.persistence.*;
import jakarta.persistence.criteria.*;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.*;
import java.util.*;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.cfg.Configuration;
import org.jooq.CommonTableExpression;
import org.jooq.Condition;
import org.jooq.DSLContext;
import org.jooq.DatePart;
import org.jooq.Field;
import org.jooq.Name;
import org.jooq.Record;
import org.jooq.ResultQuery;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;

/** jOOQ and Hibernate write what their users ask for of the corpus' tables; the argument names one. */
public class Corpus {
  interface Action { Object run() throws Exception; }

  static int number = 0;

  static void attempt(Action action) {
    number++;
    try {
      action.run();
    } catch (Throwable error) {
      Throwable cause = error;
      while (cause.getCause() != null) cause = cause.getCause();
      System.out.println("FAILED " + number + " " + String.valueOf(cause.getMessage()).replace("\n", " "));
    }
  }

  public static void main(String[] arguments) throws Exception {
    Map<String, String> env = System.getenv();
    String url = "jdbc:postgresql://" + env.get("PGHOST") + ":" + env.get("PGPORT") + "/" + env.get("PGDATABASE") + "?sslmode=disable&prepareThreshold=0";
    if (arguments[0].equals("jooq"))
      try (Connection connection = DriverManager.getConnection(url, env.get("PGUSER"), env.get("PGPASSWORD"))) {
        jooq(DSL.using(connection, SQLDialect.POSTGRES));
      }
    else hibernate(url, env.get("PGUSER"), env.get("PGPASSWORD"));
    System.exit(0);
  }

  static final org.jooq.Table<Record> orders = table(name("sales", "orders")).as("o");
  static final org.jooq.Table<Record> customers = table(name("sales", "customers")).as("c");
  static final org.jooq.Table<Record> items = table(name("sales", "items")).as("i");
  static final org.jooq.Table<Record> employees = table(name("hr", "employees")).as("e");

  static <T> Field<T> o(String column, org.jooq.DataType<T> type) { return field(name("o", column), type); }
  static <T> Field<T> i(String column, org.jooq.DataType<T> type) { return field(name("i", column), type); }

  static void jooq(DSLContext db) {
    System.out.println("VERSION jOOQ " + org.jooq.Constants.FULL_VERSION);
    Field<Integer> id = o("id", SQLDataType.INTEGER), customer = o("customer_id", SQLDataType.INTEGER), quantity = o("quantity", SQLDataType.INTEGER);
    Field<String> status = o("status", SQLDataType.CLOB), region = o("region", SQLDataType.CLOB), payload = o("payload", SQLDataType.CLOB);
    Field<BigDecimal> amount = o("amount", SQLDataType.NUMERIC(12, 2));
    Field<Double> discount = o("discount", SQLDataType.DOUBLE);
    Field<LocalDate> day = o("ordered_on", SQLDataType.LOCALDATE);
    Field<LocalDateTime> created = o("created_at", SQLDataType.LOCALDATETIME);
    Field<OffsetDateTime> shipped = o("shipped_at", SQLDataType.OFFSETDATETIME);
    Field<Boolean> priority = o("priority", SQLDataType.BOOLEAN);
    Field<String[]> tags = o("tags", SQLDataType.CLOB.array());
    Field<Long> big = o("big", SQLDataType.BIGINT);
    Field<Integer> order = i("order_id", SQLDataType.INTEGER), line = i("line", SQLDataType.INTEGER);
    Field<String> sku = i("sku", SQLDataType.CLOB);
    Field<BigDecimal> price = i("price", SQLDataType.NUMERIC(10, 3));
    Field<Long> qty = i("qty", SQLDataType.BIGINT);
    Field<Integer> cid = field(name("c", "id"), SQLDataType.INTEGER);
    Field<String> cname = field(name("c", "name"), SQLDataType.CLOB), city = field(name("c", "city"), SQLDataType.CLOB);
    List<Condition> conditions = List.of(
        id.eq(3), id.ne(3), id.in(1, 2), id.notIn(1, 2), id.between(2, 5), id.notBetween(2, 5), id.betweenSymmetric(5, 2), id.gt(quantity),
        status.eq("paid"), status.isNull(), status.isNotNull(), status.isDistinctFrom("paid"), status.isNotDistinctFrom("paid"), status.like("pa%"), status.notLike("pa%"), status.likeIgnoreCase("PA%"), status.notLikeIgnoreCase("PA%"), status.contains("ai"), status.notContains("ai"), status.containsIgnoreCase("AI"), status.startsWith("pa"), status.startsWithIgnoreCase("PA"), status.endsWith("d"), status.endsWithIgnoreCase("D"), status.likeRegex("^p"), status.notLikeRegex("^p"), status.like("p!%%", '!'), status.similarTo("p%"), status.equalIgnoreCase("PAID"), status.in("paid", "open"), status.like(any("pa%", "op%")), status.eq(any("paid", "open")), status.lt("open"),
        amount.gt(new BigDecimal("20.5")), amount.between(BigDecimal.ONE, new BigDecimal(99)), amount.mul(2).gt(new BigDecimal(100)), amount.div(3).lt(BigDecimal.TEN), discount.gt(0.1), discount.eq(0.25), quantity.mod(2).eq(1), quantity.bitAnd(1).eq(1), quantity.plus(1).gt(id),
        day.eq(LocalDate.of(2024, 2, 29)), day.ge(LocalDate.of(2024, 2, 1)), created.lt(LocalDateTime.of(2024, 2, 1, 12, 0)), shipped.gt(OffsetDateTime.of(2024, 3, 1, 0, 0, 0, 0, ZoneOffset.UTC)), year(day).eq(2024), month(created).in(2, 3), day.plus(7).gt(LocalDate.of(2024, 3, 1)), localDateTimeSub(created, 6, DatePart.HOUR).gt(LocalDateTime.of(2024, 3, 1, 0, 0)), localDateAdd(day, 1, DatePart.MONTH).gt(LocalDate.of(2024, 3, 1)),
        condition(priority), not(condition(priority)), priority.isTrue(), priority.isFalse(), val("a").eq(any(tags)), tags.contains(new String[] {"a"}), arrayOverlap(tags, array("a", "c")), cardinality(tags).gt(1), big.gt(1L << 40),
        status.eq("paid").and(region.eq("EU")), status.eq("paid").or(region.eq("US")), not(status.eq("paid").and(region.eq("EU"))), status.eq("paid").xor(region.eq("EU")), row(id, region).eq(1, "EU"), row(id, region).in(row(1, "EU"), row(3, "US")), row(region, id).gt("APAC", 5), row(id, quantity).between(1, 1).and(5, 5), noCondition(), trueCondition(), falseCondition(),
        exists(selectOne().from(items).where(order.eq(id))), notExists(selectOne().from(items).where(order.eq(id))), id.in(select(order).from(items)), id.notIn(select(order).from(items).where(order.isNotNull())), amount.gt(select(avg(amount)).from(orders)), amount.ge(all(select(amount).from(orders).where(amount.isNotNull()))), customer.eq(any(select(cid).from(customers).where(city.eq("Paris")))), unique(select(order).from(items).where(order.eq(id))));
    for (Condition each : conditions) attempt(() -> db.select(id).from(orders).where(each).orderBy(id).fetch());
    List<Field<?>> fields = List.of(
        amount.plus(1), amount.mul(quantity), amount.div(3), amount.neg(), quantity.mod(3), amount.abs(), round(amount), round(amount, 1), trunc(amount, 1), ceil(amount), floor(discount), sqrt(quantity), power(quantity, 2), exp(discount), sign(amount), greatest(quantity, id), least(quantity, id), coalesce(amount, BigDecimal.ZERO), nvl(quantity, 0), nullif(quantity, 0), nvl2(amount, "y", "n"), iif(priority.isTrue(), "y", "n"), ifnull(quantity, 0), ln(quantity.plus(1)), log(quantity.plus(1), 10), sin(discount), deg(discount), pi(), square(quantity), quantity.bitOr(1), quantity.shl(1), bitCount(quantity),
        upper(status), lower(region), length(status), charLength(status), octetLength(status), bitLength(status), substring(status, 2), substring(status, 2, 2), left(status, 2), right(status, 2), DSL.replace(status, "a", "b"), trim(status), ltrim(status), rtrim(status), trim(status, "p"), lpad(status, 10, "*"), rpad(status, 10), reverse(status), repeat(region, 2), position(status, "i"), concat(region, val("-"), status), region.concat(status), ascii(region), md5(status), translate(status, "ai", "bj"), overlay(status, "XX", 2, 1), splitPart(status, "a", 1), regexpReplaceAll(status, "[aeiou]", "*"), regexpReplaceFirst(status, "[aeiou]", "*"), toChar(day, "YYYY-MM"), space(3), chr(65), toHex(quantity), insert(status, 1, 1, "x"),
        year(day), month(day), day(day), hour(created), minute(created), second(created), quarter(day), week(day), dayOfWeek(day), isoDayOfWeek(day), dayOfYear(day), epoch(created), extract(created, DatePart.MILLISECOND), extract(day, DatePart.DECADE), extract(day, DatePart.CENTURY), trunc(day, DatePart.MONTH), trunc(created, DatePart.HOUR), trunc(created, DatePart.QUARTER), localDateDiff(day, val(LocalDate.of(2024, 1, 1))), localDateAdd(day, 1), localDateTimeAdd(created, 2, DatePart.HOUR), localDateTimeDiff(created, val(LocalDateTime.of(2024, 1, 1, 0, 0))), localDateDiff(DatePart.MONTH, day, val(LocalDate.of(2023, 1, 1))), cast(created, SQLDataType.LOCALDATE), cast(created, SQLDataType.LOCALTIME),
        cast(id, SQLDataType.VARCHAR), cast(amount, SQLDataType.INTEGER), cast(quantity, SQLDataType.NUMERIC(10, 2)), cast(priority, SQLDataType.INTEGER), cast(id, SQLDataType.DOUBLE), cast(day, SQLDataType.LOCALDATETIME),
        when(amount.gt(new BigDecimal(100)), "big").when(amount.gt(BigDecimal.TEN), "mid").otherwise("small"), choose(status).when("paid", 1).when("open", 2).otherwise(0), decode(status, "paid", 1, 0), field(amount.gt(BigDecimal.TEN)), inline("x"), val(1), val(new BigDecimal("1.5")), inline((String) null), val(LocalDate.of(2024, 1, 1)), inline(true),
        cardinality(tags), arrayGet(tags, 1), arrayConcat(tags, array("z")), arrayAppend(tags, "z"), arrayPrepend("z", tags), arrayRemove(tags, "a"), arrayReplace(tags, val("a"), val("x")), array(region, status),
        rowNumber().over(partitionBy(region).orderBy(id)), rank().over(orderBy(amount.desc().nullsLast())), denseRank().over(orderBy(region)), percentRank().over(orderBy(id)), cumeDist().over(orderBy(id)), ntile(3).over(orderBy(id)), lag(amount).over(orderBy(id)), lead(amount, 2, BigDecimal.ZERO).over(orderBy(id)), firstValue(status).over(partitionBy(region).orderBy(id)), lastValue(status).over(partitionBy(region).orderBy(id).rowsBetweenUnboundedPreceding().andUnboundedFollowing()), nthValue(id, 2).over(partitionBy(region).orderBy(id)), sum(amount).over(partitionBy(region)), sum(quantity).over(orderBy(id).rowsBetweenPreceding(1).andFollowing(1)), avg(quantity).over(orderBy(id).rangeUnboundedPreceding()), count().over(), count().filterWhere(status.eq("paid")).over(partitionBy(region)), sum(quantity).over(orderBy(region).groupsBetweenPreceding(1).andCurrentRow()), max(amount).over(orderBy(id).rowsPreceding(2)), ratioToReport(amount).over(),
        field(selectCount().from(items).where(order.eq(id))), field(select(max(price)).from(items).where(order.eq(id))), field(exists(selectOne().from(items).where(order.eq(id)))), array(select(sku).from(items).where(order.eq(id)).orderBy(line)), jsonObject(key("id").value(id), key("st").value(status)), jsonbObject(key("id").value(id), key("amount").value(amount)), jsonArray(id, status), jsonbArray(id, status), jsonbGetAttribute(payload.cast(SQLDataType.JSONB), "k"), jsonbGetAttributeAsText(payload.cast(SQLDataType.JSONB), "s"), jsonbGetElement(jsonbGetAttribute(payload.cast(SQLDataType.JSONB), "list"), 0));
    for (Field<?> each : fields) attempt(() -> db.select(id, each.as("x")).from(orders).orderBy(id).fetch());
    List<Field<?>> totals = List.of(
        count(), count(amount), countDistinct(status), countDistinct(status, region), sum(amount), sumDistinct(quantity), avg(quantity), avg(amount), min(day), max(created), stddevSamp(quantity), stddevPop(discount), varSamp(quantity), median(discount), percentileCont(0.9).withinGroupOrderBy(discount), percentileDisc(0.5).withinGroupOrderBy(quantity), mode(status), boolAnd(priority), boolOr(priority), every(priority), sum(amount).filterWhere(status.eq("paid")), count(when(amount.gt(BigDecimal.TEN), 1)), sum(when(status.eq("paid"), amount).otherwise(BigDecimal.ZERO)), arrayAgg(id).orderBy(id.desc()), listAgg(status, ", ").withinGroupOrderBy(id), groupConcat(status).orderBy(id).separator("; "), jsonArrayAgg(status).orderBy(id), jsonbArrayAgg(id).orderBy(id), jsonObjectAgg(key(cast(id, SQLDataType.VARCHAR)).value(status)), jsonbObjectAgg(cast(id, SQLDataType.VARCHAR), status), corr(discount, quantity), covarPop(discount, quantity), regrSlope(discount, quantity), regrCount(discount, quantity), bitAndAgg(quantity), bitOrAgg(quantity), bitXorAgg(quantity), product(quantity), maxDistinct(region), anyValue(val(1)), sum(amount).div(count()), round(avg(amount), 2), coalesce(sum(amount), BigDecimal.ZERO), arrayAggDistinct(region).orderBy(region), multisetAgg(id, status).orderBy(id));
    for (Field<?> each : totals) {
      attempt(() -> db.select(each.as("x")).from(orders).fetch());
      attempt(() -> db.select(region, each.as("x")).from(orders).groupBy(region).orderBy(region).fetch());
    }
    Field<Integer> eid = field(name("e", "id"), SQLDataType.INTEGER), boss = field(name("e", "manager_id"), SQLDataType.INTEGER), depth = field(name("t", "depth"), SQLDataType.INTEGER), tid = field(name("t", "id"), SQLDataType.INTEGER);
    CommonTableExpression<?> paid = name("p").fields("id", "region").as(select(id, region).from(orders).where(status.eq("paid")));
    CommonTableExpression<?> tree = name("t").fields("id", "depth").as(select(eid, inline(0)).from(employees).where(boss.isNull()).unionAll(select(eid, depth.plus(1)).from(employees).join(table(name("t"))).on(tid.eq(boss))));
    var sub = select(id, amount).from(orders).where(status.eq("paid")).asTable("s");
    List<ResultQuery<?>> queries = List.of(
        db.selectFrom(orders).orderBy(id), db.select().from(orders).orderBy(id).limit(3), db.select(id).from(orders).orderBy(id).limit(3).offset(2), db.select(id).from(orders).orderBy(id).offset(5), db.select(id).from(orders).orderBy(quantity.desc().nullsLast(), id).limit(2).withTies(), db.select(id).from(orders).orderBy(amount.asc().nullsFirst(), id.desc()), db.select(id).from(orders).orderBy(region.sortAsc("US", "EU"), id), db.select(region, id).from(orders).orderBy(region, id).seek("EU", 2).limit(3), db.select(id).from(orders).orderBy(id.desc()).seekAfter(4).limit(2),
        db.selectDistinct(region).from(orders).orderBy(region), db.select(region, id).distinctOn(region).from(orders).orderBy(region, id.desc()), db.selectCount().from(orders), db.select(count(asterisk()), max(amount)).from(orders), db.selectOne().from(orders).where(id.eq(1)),
        db.select(id, cname).from(orders).join(customers).on(cid.eq(customer)).orderBy(id), db.select(id, sku).from(orders).leftJoin(items).on(order.eq(id)).and(qty.gt(3L)).orderBy(id, line), db.select(sku, id).from(orders).rightJoin(items).on(order.eq(id)).orderBy(sku, id), db.select(id, cid).from(orders).fullJoin(customers).on(cid.eq(customer)).orderBy(id, cid), db.select(id, cid).from(orders).crossJoin(customers).orderBy(id, cid), db.select(id).from(orders).leftSemiJoin(items).on(order.eq(id)).orderBy(id), db.select(id).from(orders).leftAntiJoin(items).on(order.eq(id)).orderBy(id), db.select(id, field(name("l", "sku"))).from(orders).crossJoin(lateral(select(sku).from(items).where(order.eq(id)).orderBy(line).limit(1)).as("l")).orderBy(id), db.select(id, field(name("l", "sku"))).from(orders).outerApply(select(sku).from(items).where(order.eq(id)).orderBy(line.desc()).limit(1).asTable("l")).orderBy(id), db.select(id, cname, sku).from(orders, customers, items).where(cid.eq(customer)).and(order.eq(id)).orderBy(id, line),
        db.select(region, status, count()).from(orders).groupBy(region, status).having(count().gt(1)).orderBy(region, status), db.select(region, status, sum(quantity), grouping(region)).from(orders).groupBy(rollup(region, status)).orderBy(region, status, grouping(region)), db.select(region, status, sum(quantity)).from(orders).groupBy(cube(region, status)).orderBy(region, status, sum(quantity)), db.select(region, status, count()).from(orders).groupBy(groupingSets(List.of(region), List.of(status), List.of())).orderBy(region, status, count()), db.select(trunc(day, DatePart.MONTH).as("m"), sum(amount)).from(orders).groupBy(trunc(day, DatePart.MONTH)).orderBy(inline(1)), db.select(year(day), count()).from(orders).groupBy(year(day)).orderBy(year(day)), db.select(count()).from(orders).groupBy(),
        db.with(paid).select(field(name("p", "region")), count()).from(paid).groupBy(field(name("p", "region"))).orderBy(inline(1)), db.withRecursive(tree).select(tid, depth).from(tree).orderBy(depth, tid), db.select(sub.field("id")).from(sub).where(sub.field("amount", BigDecimal.class).gt(BigDecimal.TEN)).orderBy(inline(1)), db.with(name("m").asMaterialized(select(id).from(orders))).select(count()).from(name("m")),
        db.select(id).from(orders).union(select(order).from(items)).orderBy(inline(1)), db.select(id).from(orders).unionAll(select(order).from(items)).orderBy(inline(1)), db.select(customer).from(orders).intersect(select(cid).from(customers)).orderBy(inline(1)), db.select(cid).from(customers).except(select(customer).from(orders)).orderBy(inline(1)), db.select(customer).from(orders).exceptAll(select(cid).from(customers)).orderBy(inline(1)), db.select(id).from(orders).where(status.eq("paid")).union(select(id).from(orders).where(region.eq("EU"))).intersect(select(order).from(items)).orderBy(inline(1)).limit(2),
        db.select(field(name("v", "a")), id).from(values(row(1, "x"), row(2, "y")).as("v", "a", "b")).join(orders).on(id.eq(field(name("v", "a"), Integer.class))).orderBy(id), db.select(field(name("g", "n")), count(id)).from(generateSeries(1, 4).as("g", "n")).leftJoin(orders).on(customer.eq(field(name("g", "n"), Integer.class))).groupBy(field(name("g", "n"))).orderBy(inline(1)), db.select(id, field(name("u", "t"))).from(orders).crossJoin(unnest(tags).as("u", "t")).orderBy(inline(1), inline(2)), db.select(id, rowNumber().over(name("w"))).from(orders).window(name("w").as(partitionBy(region).orderBy(id))).orderBy(id), db.select(id).from(orders).qualify(rowNumber().over(partitionBy(region).orderBy(id)).eq(1)).orderBy(id), db.select(id, multiset(select(sku, qty).from(items).where(order.eq(id)).orderBy(line)).as("m")).from(orders).orderBy(id), db.select(row(id, status).as("r")).from(orders).orderBy(id), db.select(sku, sum(price.mul(qty)).as("v")).from(items).groupBy(sku).orderBy(inline(2).desc(), sku), db.select(i("uid", SQLDataType.UUID)).from(items).where(i("uid", SQLDataType.UUID).eq(new UUID(0, 1))), db.select(sku).from(items).where(i("weight", SQLDataType.REAL).gt(0.3f)).orderBy(order, line));
    for (ResultQuery<?> each : queries) attempt(each::fetch);
    attempt(() -> db.fetchCount(orders));
    attempt(() -> db.fetchExists(orders, status.eq("paid")));
    attempt(() -> db.fetchCount(select(region).from(orders).groupBy(region)));
    attempt(() -> db.fetch("select region, count(*) from sales.orders where amount > ? group by region order by region", 5));
  }

  @Entity(name = "Customer") @jakarta.persistence.Table(schema = "sales", name = "customers")
  public static class Customer {
    @Id public Integer id;
    public String name;
    public String city;
    public LocalDate born;
    public Boolean vip;
    @OneToMany(mappedBy = "customer") public List<Order> orders;
  }

  @Entity(name = "Order") @jakarta.persistence.Table(schema = "sales", name = "orders")
  public static class Order {
    @Id public Integer id;
    @ManyToOne(fetch = FetchType.LAZY) @JoinColumn(name = "customer_id") public Customer customer;
    public String status;
    public String region;
    @Column(precision = 12, scale = 2) public BigDecimal amount;
    public Double discount;
    public Integer quantity;
    @Column(name = "ordered_on") public LocalDate orderedOn;
    @Column(name = "created_at") public LocalDateTime createdAt;
    @Column(name = "shipped_at") public OffsetDateTime shippedAt;
    public Boolean priority;
    public Long big;
    @OneToMany(mappedBy = "order") public List<Item> items;
  }

  @Embeddable
  public static class ItemKey implements java.io.Serializable {
    @Column(name = "order_id") public Integer orderId;
    public Integer line;
    @Override public boolean equals(Object other) { return other instanceof ItemKey that && Objects.equals(orderId, that.orderId) && Objects.equals(line, that.line); }
    @Override public int hashCode() { return Objects.hash(orderId, line); }
  }

  @Entity(name = "Item") @jakarta.persistence.Table(schema = "sales", name = "items")
  public static class Item {
    @EmbeddedId public ItemKey key;
    @MapsId("orderId") @ManyToOne(fetch = FetchType.LAZY) @JoinColumn(name = "order_id") public Order order;
    public String sku;
    @Column(precision = 10, scale = 3) public BigDecimal price;
    public Long qty;
    public UUID uid;
  }

  @Entity(name = "Employee") @jakarta.persistence.Table(schema = "hr", name = "employees")
  public static class Employee {
    @Id public Integer id;
    public String name;
    @ManyToOne(fetch = FetchType.LAZY) @JoinColumn(name = "manager_id") public Employee manager;
    public String dept;
  }

  static void hibernate(String url, String user, String password) {
    java.util.logging.Logger.getLogger("org.hibernate").setLevel(java.util.logging.Level.OFF);
    System.out.println("VERSION Hibernate " + org.hibernate.Version.getVersionString());
    SessionFactory factory = new Configuration().addAnnotatedClass(Customer.class).addAnnotatedClass(Order.class).addAnnotatedClass(Item.class).addAnnotatedClass(Employee.class)
        .setProperty("hibernate.connection.url", url).setProperty("hibernate.connection.username", user).setProperty("hibernate.connection.password", password).setProperty("hibernate.query.fail_on_pagination_over_collection_fetch", "false").buildSessionFactory();
    List<String> conditions = List.of(
        "o.id = 3", "o.id in (1, 2)", "o.id not in (1, 2)", "o.id between 2 and 5", "o.status = 'paid'", "o.status is null", "o.status is not null", "o.status is distinct from 'paid'", "o.status like 'pa%'", "o.status not like 'pa%'", "o.status ilike 'PA%'", "o.status like 'p!%%' escape '!'", "lower(o.status) = 'paid'", "o.amount > 20.5", "o.amount * 2 > 100", "o.amount / 3 < 10", "o.quantity % 2 = 1", "mod(o.quantity, 2) = 1", "o.discount > 0.1", "o.orderedOn >= date 2024-02-01", "o.orderedOn >= {d '2024-02-01'}", "o.createdAt < datetime 2024-02-01 12:00:00", "year(o.orderedOn) = 2024", "month(o.createdAt) in (2, 3)", "extract(hour from o.createdAt) > 12", "o.createdAt + 2 day > datetime 2024-03-01 00:00:00", "o.orderedOn - 7 day > date 2024-02-01", "(o.createdAt - datetime 2024-01-01 00:00:00) > 30 day", "o.priority = true", "not o.priority", "o.priority is true", "o.status = 'paid' and o.region = 'EU'", "o.status = 'paid' or o.region = 'US'", "not (o.status = 'paid' or o.region = 'US')", "(o.id, o.region) in ((1, 'EU'), (3, 'US'))", "o.customer.city = 'Paris'", "o.customer.id = 1", "o.customer is null", "exists (select 1 from Item i where i.order = o)", "not exists (select 1 from Item i where i.order = o and i.qty > 3)", "o.id in (select i.order.id from Item i where i.price > 5)", "o.amount > (select avg(p.amount) from Order p)", "o.amount >= all (select p.amount from Order p where p.amount is not null)", "o.customer in (select c from Customer c where c.city = 'Paris')", "o.items is empty", "o.items is not empty", "size(o.items) > 1", "exists elements(o.items)", "o.big > 1099511627776", "o.status in ('paid', 'open') and o.quantity is not null", "coalesce(o.status, 'none') = 'none'", "o.status = any (select p.status from Order p where p.region = 'US')", "o.region > 'B' and o.region <= 'EU'", "locate('ai', o.status) > 0", "o.status || o.region = 'paidEU'", "cast(o.id as String) like '1%'", "o.id <> 0");
    List<String> expressions = List.of(
        "o.amount + 1", "o.amount * o.quantity", "o.amount / 3", "-o.quantity", "o.quantity % 3", "abs(o.amount)", "round(o.amount, 1)", "round(o.discount, 1)", "truncate(o.amount, 1)", "ceiling(o.amount)", "floor(o.discount)", "sqrt(o.quantity)", "power(o.quantity, 2)", "exp(o.discount)", "ln(o.quantity + 1)", "log10(o.quantity + 1)", "sign(o.amount)", "coalesce(o.amount, 0)", "nullif(o.quantity, 0)", "ifnull(o.quantity, 0)", "greatest(o.quantity, o.id)", "least(o.quantity, o.id)", "sin(o.discount)", "degrees(o.discount)", "upper(o.status)", "lower(o.region)", "length(o.status)", "character_length(o.status)", "octet_length(o.status)", "substring(o.status, 2, 2)", "substring(o.status from 2)", "left(o.status, 2)", "right(o.status, 2)", "replace(o.status, 'a', 'b')", "trim(o.status)", "trim(leading 'p' from o.status)", "trim(trailing from o.status)", "ltrim(o.status)", "lpad(o.status, 10, '*')", "rpad(o.status, 10)", "pad(o.status with 10 leading)", "repeat(o.region, 2)", "reverse(o.status)", "locate('i', o.status)", "position('i' in o.status)", "overlay(o.status placing 'XX' from 2 for 1)", "concat(o.region, '-', o.status)", "o.region || ':' || o.status", "collate(o.status as `C`)", "year(o.orderedOn)", "month(o.orderedOn)", "day(o.orderedOn)", "hour(o.createdAt)", "minute(o.createdAt)", "second(o.createdAt)", "extract(quarter from o.orderedOn)", "extract(week from o.orderedOn)", "extract(day of week from o.orderedOn)", "extract(day of year from o.orderedOn)", "extract(epoch from o.createdAt)", "extract(date from o.createdAt)", "extract(time from o.createdAt)", "trunc(o.createdAt, month)", "trunc(o.createdAt, hour)", "format(o.orderedOn as 'yyyy-MM')", "format(o.createdAt as 'HH:mm:ss')", "o.orderedOn + 1 month", "o.createdAt + 2 hour", "o.createdAt - o.createdAt", "(o.createdAt - datetime 2024-01-01 00:00:00) by hour", "timestampdiff(day, o.createdAt, datetime 2024-06-01 00:00:00)", "timestampadd(day, 3, o.createdAt)", "cast(o.id as String)", "cast(o.amount as Integer)", "cast(o.quantity as BigDecimal)", "cast(o.createdAt as LocalDate)", "cast(o.id as Long)", "case when o.amount > 100 then 'big' when o.amount > 20 then 'mid' else 'small' end", "case o.status when 'paid' then 1 when 'open' then 2 else 0 end", "o.amount > 20", "o.customer.name", "o.customer.id", "size(o.items)", "(select count(i) from Item i where i.order = o)", "(select max(i.price) from Item i where i.order = o)", "str(o.id)", "1", "'x'", "true", "1.5", "row_number() over (partition by o.region order by o.id)", "rank() over (order by o.amount desc nulls last)", "dense_rank() over (order by o.region)", "percent_rank() over (order by o.id)", "cume_dist() over (order by o.id)", "lag(o.amount) over (order by o.id)", "lead(o.amount, 2, 0.0) over (order by o.id)", "first_value(o.status) over (partition by o.region order by o.id)", "sum(o.amount) over (partition by o.region)", "sum(o.quantity) over (order by o.id rows between 1 preceding and 1 following)", "count(*) over ()", "avg(o.quantity) over (partition by o.region order by o.id rows between unbounded preceding and current row)");
    List<String> totals = List.of("count(*)", "count(o.amount)", "count(distinct o.status)", "sum(o.amount)", "avg(o.quantity)", "avg(o.amount)", "min(o.orderedOn)", "max(o.createdAt)", "sum(o.amount * o.quantity)", "count(*) filter (where o.status = 'paid')", "sum(o.amount) filter (where o.priority = true)", "sum(case when o.status = 'paid' then 1 else 0 end)", "listagg(o.status, ',') within group (order by o.id)", "every(o.priority)", "any(o.priority)", "percentile_cont(0.5) within group (order by o.discount)", "percentile_disc(0.5) within group (order by o.quantity)", "mode() within group (order by o.status)", "max(o.amount) - min(o.amount)", "coalesce(sum(o.amount), 0)", "round(avg(o.amount), 2)", "sum(distinct o.quantity)");
    List<String> queries = List.of(
        "from Order o order by o.id", "select o from Order o join fetch o.customer order by o.id", "select o from Order o left join fetch o.items i order by o.id, i.key.line", "select distinct c from Customer c left join fetch c.orders x order by c.id, x.id", "select o.id, c.name from Order o join o.customer c order by o.id", "select o.id, i.sku from Order o left join o.items i on i.qty > 3 order by o.id, i.key.line", "select c.name, count(o) from Customer c left join c.orders o group by c.name order by c.name", "select c.id, o.id from Customer c full join c.orders o order by c.id, o.id", "select o.id, c.id from Order o cross join Customer c order by o.id, c.id", "select o.id, c.name from Order o join Customer c on c.id = o.customer.id where c.city = 'Paris' order by o.id", "select a.id, b.id from Order a, Order b where a.region = b.region and a.id < b.id order by a.id, b.id", "select e.name, m.name from Employee e left join e.manager m order by e.id", "select e.name, e.manager.manager.name from Employee e order by e.id", "select distinct o.region from Order o order by o.region", "select o.region, o.status, count(*), sum(o.amount) from Order o group by o.region, o.status having count(*) > 1 order by o.region, o.status", "select year(o.orderedOn), month(o.orderedOn), count(*) from Order o group by 1, 2 order by 1, 2", "select trunc(o.createdAt, month) as m, sum(o.amount) from Order o group by m order by m", "select o.region, count(*) from Order o group by rollup(o.region) order by o.region", "select o.region, o.status, sum(o.quantity) from Order o group by cube(o.region, o.status) order by o.region, o.status, sum(o.quantity)", "select o.id from Order o order by o.amount desc nulls last, o.id limit 3", "select o.id from Order o order by o.id limit 3 offset 2", "select o.id from Order o order by o.quantity desc nulls last fetch first 2 rows only", "select o.id from Order o order by o.quantity desc nulls last fetch first 2 rows with ties", "select o.id from Order o order by lower(o.status), o.id desc", "with p as (select o.id as id, o.region as region from Order o where o.status = 'paid') select p.region, count(*) from p p group by p.region order by p.region", "with t as (select e.id as id, 0 as depth from Employee e where e.manager is null union all select e.id as id, t.depth + 1 as depth from Employee e join t t on e.manager.id = t.id) select t.id, t.depth from t t order by t.depth, t.id", "select s.id, s.total from (select o.id as id, o.amount * o.quantity as total from Order o) s where s.total > 50 order by s.id", "select o.id, l.sku from Order o join lateral (select i.sku as sku from o.items i order by i.key.line limit 1) l order by o.id", "select o.id from Order o where o.status = 'paid' union select o.id from Order o where o.region = 'EU' order by 1", "select o.id from Order o union all select i.order.id from Item i order by 1", "select c.id from Customer c except select o.customer.id from Order o", "select c.id from Customer c intersect select o.customer.id from Order o", "select new map(o.id as id, o.status as st) from Order o order by o.id", "select i.sku, sum(i.price * i.qty) from Item i group by i.sku order by 2 desc, i.sku", "select i from Item i where i.uid is not null order by i.key.orderId, i.key.line", "select c.name, c.born from Customer c where c.born < date 2000-01-01 order by c.id", "select count(*) from Order o where o.customer.vip = false", "select o.customer.city, count(*) from Order o group by o.customer.city order by o.customer.city");
    for (String each : conditions) attempt(() -> factory.fromSession(s -> s.createSelectionQuery("select o.id from Order o where " + each + " order by o.id", Integer.class).list()));
    for (String each : expressions) attempt(() -> factory.fromSession(s -> s.createSelectionQuery("select o.id, " + each + " from Order o order by o.id", Object[].class).list()));
    for (String each : totals) {
      attempt(() -> factory.fromSession(s -> s.createSelectionQuery("select " + each + " from Order o", Object.class).list()));
      attempt(() -> factory.fromSession(s -> s.createSelectionQuery("select o.region, " + each + " from Order o group by o.region order by o.region", Object[].class).list()));
    }
    for (String each : queries) attempt(() -> factory.fromSession(s -> s.createSelectionQuery(each, Object.class).list()));
    Map<String, Object> parameters = new LinkedHashMap<>();
    parameters.put("o.id = :p", 3);
    parameters.put("o.id in :p", List.of(1, 2, 3));
    parameters.put("o.status = :p", "paid");
    parameters.put("o.status in :p", List.of("paid", "open"));
    parameters.put("o.status like concat(:p, '%')", "pa");
    parameters.put("o.amount > :p", new BigDecimal("20.5"));
    parameters.put("o.discount > :p", 0.1);
    parameters.put("o.orderedOn >= :p", LocalDate.of(2024, 2, 1));
    parameters.put("o.createdAt < :p", LocalDateTime.of(2024, 2, 1, 12, 0));
    parameters.put("o.shippedAt > :p", OffsetDateTime.of(2024, 3, 1, 0, 0, 0, 0, ZoneOffset.UTC));
    parameters.put("o.priority = :p", true);
    parameters.put("o.big > :p", 1L << 40);
    parameters.put("coalesce(o.status, :p) = 'none'", "none");
    parameters.put("o.quantity + :p > 5", 2);
    for (var each : parameters.entrySet())
      attempt(() -> factory.fromSession(s -> s.createSelectionQuery("select o.id from Order o where " + each.getKey() + " order by o.id", Integer.class).setParameter("p", each.getValue()).list()));
    attempt(() -> factory.fromSession(s -> s.find(Order.class, 1)));
    attempt(() -> factory.fromSession(s -> s.find(Customer.class, 1).orders.size()));
    attempt(() -> factory.fromSession(s -> s.find(Order.class, 1).customer.name));
    attempt(() -> factory.fromSession(s -> s.byMultipleIds(Order.class).multiLoad(1, 2, 3)));
    attempt(() -> factory.fromSession(s -> s.createSelectionQuery("from Order o order by o.id", Order.class).setFirstResult(2).setMaxResults(3).list()));
    attempt(() -> factory.fromSession(s -> s.createSelectionQuery("from Order o where o.status = 'paid' order by o.id", Order.class).getResultCount()));
    attempt(() -> factory.fromSession(s -> s.createNativeQuery("select region, count(*) from sales.orders where amount > :least group by region order by region", Object[].class).setParameter("least", 5).list()));
    attempt(() -> factory.fromSession(s -> s.createNativeQuery("select * from sales.items where order_id = ? order by line", Item.class).setParameter(1, 1).list()));
    attempt(() -> factory.fromSession(Corpus::byCriteria));
  }

  static Object byCriteria(Session session) {
    CriteriaBuilder b = session.getCriteriaBuilder();
    CriteriaQuery<Object[]> totals = b.createQuery(Object[].class);
    Root<Order> o = totals.from(Order.class);
    totals.multiselect(o.get("region"), b.count(o), b.sum(o.get("amount")), b.max(o.get("quantity"))).where(b.and(b.isNotNull(o.get("status")), b.greaterThan(o.get("id"), 1))).groupBy(o.get("region")).having(b.gt(b.count(o), 1L)).orderBy(b.asc(o.get("region")));
    session.createQuery(totals).list();
    CriteriaQuery<Order> found = b.createQuery(Order.class);
    Root<Order> from = found.from(Order.class);
    from.fetch("customer", JoinType.LEFT);
    Subquery<Integer> sub = found.subquery(Integer.class);
    Root<Item> item = sub.from(Item.class);
    sub.select(item.get("order").get("id")).where(b.greaterThan(item.get("price"), new BigDecimal(5)));
    found.select(from).where(b.or(from.get("id").in(sub), b.like(b.lower(from.get("status")), "op%"))).orderBy(b.asc(from.get("id")));
    return session.createQuery(found).setMaxResults(5).list();
  }
}
