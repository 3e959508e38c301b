import jakarta.persistence.*;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.*;
import java.util.*;
import java.util.stream.*;
import org.hibernate.ScrollMode;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.cfg.Configuration;
import org.jooq.*;
import org.jooq.Record;
import org.jooq.conf.ParamType;
import org.jooq.conf.Settings;
import org.jooq.conf.StatementType;
import org.jooq.impl.DSL;
import static org.jooq.impl.DSL.*;

/**
 * The first day with jOOQ (its generator, then queries) and with Hibernate (validation of the schema, then HQL, criteria
 * and native queries); one line of JSON a step.
 */
public class Orms {
  interface Step { Object run() throws Exception; }

  static final PrintStream out = System.out;

  @Entity(name = "Region") @jakarta.persistence.Table(schema = "sales", name = "regions")
  public static class Region {
    @Id public String name;
  }

  @Entity(name = "Order") @jakarta.persistence.Table(schema = "sales", name = "orders")
  public static class Order {
    @Id public Long id;
    @ManyToOne(fetch = FetchType.LAZY) @JoinColumn(name = "region") public Region region;
    public String email;
    @Column(precision = 10, scale = 2) public BigDecimal amount;
    public Integer qty;
    public Double ratio;
    public Boolean paid;
    public LocalDate day;
    @Column(name = "placed_at") public OffsetDateTime placedAt;
    public LocalDateTime created;
    public String note;
    public UUID uid;

    @Override public String toString() {
      return List.of(id, String.valueOf(email), String.valueOf(amount), String.valueOf(qty), String.valueOf(day),
          String.valueOf(placedAt == null ? null : placedAt.toInstant()), String.valueOf(uid)).toString();
    }
  }

  public static void main(String[] arguments) throws Exception {
    System.setOut(System.err);
    Map<String, String> env = System.getenv();
    String url = "jdbc:postgresql://" + env.get("PGHOST") + ":" + env.get("PGPORT") + "/" + env.get("PGDATABASE")
        + "?sslmode=" + env.getOrDefault("PGSSLMODE", "disable");
    try (Connection connection = DriverManager.getConnection(url, env.get("PGUSER"), env.get("PGPASSWORD"))) {
      step("jooq generator", () -> generated(connection));
      for (StatementType type : StatementType.values()) jooq(type, connection);
    }
    hibernate(url, env.get("PGUSER"), env.get("PGPASSWORD"));
    System.exit(0);
  }

  /** The sources that jOOQ's generator writes of the schema, by file. */
  static Object generated(Connection connection) throws Exception {
    Path folder = Files.createTempDirectory("jooq");
    var tool = new org.jooq.codegen.GenerationTool();
    tool.setConnection(connection);
    tool.run(new org.jooq.meta.jaxb.Configuration().withGenerator(new org.jooq.meta.jaxb.Generator()
        .withDatabase(new org.jooq.meta.jaxb.Database()
            .withName("org.jooq.meta.postgres.PostgresDatabase").withInputSchema("sales").withIncludes(".*"))
        .withGenerate(new org.jooq.meta.jaxb.Generate().withPojos(true).withDaos(true))
        .withTarget(new org.jooq.meta.jaxb.Target().withPackageName("made").withDirectory(folder.toString()))));
    Map<String, String> files = new TreeMap<>();
    try (Stream<Path> all = Files.walk(folder)) {
      for (Path file : all.filter(Files::isRegularFile).toList()) {
        String text = Files.readString(file);
        // The catalog is called like the database where that is not empty.
        files.put(folder.relativize(file).toString(), text.lines().filter(line -> !line.contains("Catalog")).collect(Collectors.joining("\n")));
      }
    }
    return files;
  }

  static void jooq(StatementType type, Connection connection) {
    DSLContext dsl = DSL.using(connection, SQLDialect.POSTGRES, new Settings().withStatementType(type));
    var orders = table(name("sales", "orders"));
    var regions = table(name("sales", "regions"));
    var id = field(name("sales", "orders", "id"), Long.class);
    var region = field(name("sales", "orders", "region"), String.class);
    var email = field(name("sales", "orders", "email"), String.class);
    var amount = field(name("sales", "orders", "amount"), BigDecimal.class);
    var qty = field(name("sales", "orders", "qty"), Integer.class);
    var day = field(name("sales", "orders", "day"), LocalDate.class);
    var paid = field(name("sales", "orders", "paid"), Boolean.class);
    var regionName = field(name("sales", "regions", "name"), String.class);
    String on = "jooq " + type + ": ";
    step(on + "page", () -> dsl.select(id, email, amount, day).from(orders).where(qty.gt(0)).orderBy(id).limit(3).offset(2).fetch().formatCSV());
    step(on + "seek", () -> dsl.select(id, email).from(orders).orderBy(id).seek(10L).limit(2).fetch().formatCSV());
    step(on + "in", () -> dsl.select(count()).from(orders).where(id.in(LongStream.range(0, 500).boxed().toList())).fetchOne(0));
    step(on + "text", () -> dsl.select(id).from(orders).where(email.contains("ser1")).and(region.startsWith("e").or(region.likeIgnoreCase("W%"))).orderBy(id).limit(5).fetch().formatCSV());
    step(on + "concat", () -> dsl.select(region.concat("-").concat(qty), region.concat(inline("/"))).from(orders).orderBy(id).limit(2).fetch().formatCSV());
    step(on + "groups", () -> dsl.select(region, count(), sum(amount), avg(qty).cast(Double.class), max(day)).from(orders).groupBy(region).having(count().gt(1)).orderBy(region).fetch().formatCSV());
    step(on + "rollup", () -> dsl.select(region, paid, count()).from(orders).groupBy(rollup(region, paid)).orderBy(region.nullsLast(), paid.nullsLast()).fetch().formatCSV());
    step(on + "window", () -> dsl.select(id, rowNumber().over(partitionBy(region).orderBy(amount.desc(), id)), sum(qty).over(orderBy(id).rowsBetweenPreceding(2).andCurrentRow())).from(orders).orderBy(id).limit(4).fetch().formatCSV());
    step(on + "join and exists", () -> dsl.select(regionName, count(id)).from(regions).leftJoin(orders).on(region.eq(regionName).and(amount.gt(new BigDecimal("40.5")))).where(exists(selectOne().from(orders).where(region.eq(regionName)))).groupBy(regionName).orderBy(regionName).fetch().formatCSV());
    step(on + "with", () -> {
      var big = name("big").fields("r", "n").as(select(region, count()).from(orders).where(amount.ge(new BigDecimal("10"))).groupBy(region));
      return dsl.with(big).select().from(big).orderBy(1).fetch().formatCSV();
    });
    step(on + "multiset", () -> dsl.select(regionName, multiset(select(id, email).from(orders).where(region.eq(regionName)).orderBy(id).limit(2))).from(regions).orderBy(regionName).fetch().formatJSON());
    step(on + "case and coalesce", () -> dsl.select(id, when(qty.lt(0), "minus").when(qty.eq(0), "none").otherwise("plus"), coalesce(qty, 0), nullif(qty, -49)).from(orders).orderBy(id).limit(3).fetch().formatCSV());
    step(on + "dates", () -> dsl.select(id, trunc(day, DatePart.MONTH), year(day), localDateAdd(day, 3), localDateDiff(day, LocalDate.of(2024, 1, 1))).from(orders).where(day.between(LocalDate.of(2024, 1, 2), LocalDate.of(2024, 1, 5))).orderBy(id).limit(3).fetch().formatCSV());
    step(on + "union", () -> dsl.select(region).from(orders).union(select(regionName).from(regions)).except(select(inline("south"))).orderBy(1).fetch().formatCSV());
    step(on + "distinct on", () -> dsl.select(region, id).distinctOn(region).from(orders).orderBy(region, id.desc()).fetch().formatCSV());
    step(on + "fetch size", () -> {
      try (var rows = dsl.select(id).from(orders).orderBy(id).fetchSize(100).fetchLazy()) {
        return rows.stream().mapToLong(row -> row.get(id)).sum();
      }
    });
    step(on + "meta", () -> dsl.meta().getSchemas("sales").stream().flatMap(schema -> schema.getTables().stream()).map(each -> each.getName() + Arrays.toString(each.fields())).sorted().toList());
    step(on + "explain", () -> dsl.explain(select(id).from(orders)).plan().isEmpty());
    step(on + "refused", () -> dsl.insertInto(regions).columns(regionName).values("x").execute() == 1 ? "written" : "");
  }

  static void hibernate(String url, String user, String password) {
    Configuration configuration = new Configuration().addAnnotatedClass(Order.class).addAnnotatedClass(Region.class)
        .setProperty("hibernate.connection.url", url).setProperty("hibernate.connection.username", user)
        .setProperty("hibernate.connection.password", password).setProperty("hibernate.hbm2ddl.auto", "validate")
        .setProperty("hibernate.jdbc.time_zone", "UTC").setProperty("hibernate.hbm2ddl.extra_physical_table_types", "");
    SessionFactory[] factory = new SessionFactory[1];
    step("hibernate validates the schema", () -> { factory[0] = configuration.buildSessionFactory(); return "valid"; });
    if (factory[0] == null) return;
    try (Session session = factory[0].openSession()) {
      session.setDefaultReadOnly(true);
      step("hibernate find", () -> session.find(Order.class, 7L).toString());
      step("hibernate lazy", () -> session.find(Order.class, 7L).region.name);
      hql(session, "page", "from Order o where o.qty > :q order by o.id", Map.of("q", 3), 2, 3);
      hql(session, "fetch join", "select o from Order o join fetch o.region r where r.name like :p order by o.id", Map.of("p", "e%"), 0, 2);
      hql(session, "groups", "select o.region.name, count(o), sum(o.amount), max(o.day) from Order o group by o.region.name having count(o) > 1 order by 1", Map.of(), 0, 10);
      hql(session, "in", "select count(o) from Order o where o.id in (:ids)", Map.of("ids", LongStream.range(0, 300).boxed().toList()), 0, 1);
      hql(session, "like with concat", "select o.id from Order o where lower(o.email) like lower(concat('%', :t, '%')) order by o.id", Map.of("t", "SER12"), 0, 5);
      hql(session, "dates", "select o.id, year(o.day), o.day + 1 day, extract(month from o.placedAt) from Order o where o.day >= :d and o.placedAt > :t order by o.id", Map.of("d", LocalDate.of(2024, 1, 3), "t", OffsetDateTime.parse("2024-01-01T00:00:00Z")), 0, 3);
      hql(session, "case", "select o.id, case when o.paid then 'yes' when o.qty is null then 'none' else 'no' end, coalesce(o.qty, 0) + 1 from Order o order by o.id", Map.of(), 0, 3);
      hql(session, "exists", "select r.name from Region r where exists (select 1 from Order o where o.region = r and o.amount > :a) order by r.name", Map.of("a", new BigDecimal("40.00")), 0, 9);
      hql(session, "window", "select o.id, row_number() over (partition by o.region.name order by o.id desc) from Order o order by o.id", Map.of(), 0, 3);
      hql(session, "arithmetic", "select o.id, o.amount * o.qty, o.amount / 3, round(o.ratio, 2), cast(o.amount as Integer) from Order o order by o.id", Map.of(), 0, 3);
      hql(session, "uuid", "select o.id from Order o where o.uid = :u", Map.of("u", UUID.fromString("00000000-0000-0000-0000-000000000005")), 0, 3);
      hql(session, "limit in the text", "from Order o order by o.amount desc, o.id limit :n offset :m", Map.of("n", 2, "m", 1), 0, 9);
      hql(session, "string functions", "select o.id, upper(o.note), length(o.email), substring(o.email, 1, 3), replace(o.note, 'n', 'm'), trim(o.note), locate('@', o.email), left(o.email, 2) from Order o where o.note is not null order by o.id", Map.of(), 0, 3);
      step("hibernate criteria", () -> {
        var builder = session.getCriteriaBuilder();
        var query = builder.createQuery(Order.class);
        var root = query.from(Order.class);
        query.where(builder.and(builder.between(root.get("qty"), -10, 10), builder.isTrue(root.get("paid")), builder.like(root.get("email"), "user%"))).orderBy(builder.asc(root.get("id")));
        return session.createQuery(query).setMaxResults(3).getResultList().toString();
      });
      step("hibernate native", () -> session.createNativeQuery("select o.* from sales.orders o where o.id = ?", Order.class).setParameter(1, 9L).getSingleResult().toString());
      step("hibernate stream", () -> session.createQuery("select o.id from Order o order by o.id", Long.class).setFetchSize(50).getResultStream().mapToLong(each -> each).sum());
      step("hibernate scroll", () -> {
        try (var rows = session.createQuery("select o.id from Order o order by o.id", Long.class).scroll(ScrollMode.SCROLL_INSENSITIVE)) {
          rows.last();
          long last = rows.get();
          rows.first();
          return List.of(last, rows.get(), rows.getRowNumber());
        }
      });
      step("hibernate refused", () -> {
        var transaction = session.beginTransaction();
        try { return session.createMutationQuery("delete from Region").executeUpdate(); } finally { transaction.rollback(); }
      });
    }
  }

  static void hql(Session session, String name, String text, Map<String, ?> parameters, int first, int most) {
    step("hibernate " + name, () -> {
      var query = session.createQuery(text, Object.class);
      parameters.forEach((key, value) -> { if (value instanceof Collection<?> all) query.setParameterList(key, all); else query.setParameter(key, value); });
      return query.setFirstResult(first).setMaxResults(most).getResultList().stream()
          .map(each -> each instanceof Object[] row ? Arrays.toString(row) : String.valueOf(each)).toList();
    });
  }

  static void step(String name, Step work) {
    try {
      out.println("{\"step\": " + quoted(name) + ", \"value\": " + quoted(String.valueOf(work.run())) + "}");
    } catch (Throwable thrown) {
      Throwable cause = thrown;
      while (cause.getCause() != null && !(cause instanceof java.sql.SQLException)) cause = cause.getCause();
      String state = cause instanceof java.sql.SQLException sql ? sql.getSQLState() : cause.getClass().getName() + " " + cause.getMessage();
      out.println("{\"step\": " + quoted(name) + ", \"error\": " + quoted(state) + "}");
    }
    out.flush();
  }

  static String quoted(String text) {
    StringBuilder json = new StringBuilder("\"");
    for (char each : text.toCharArray())
      json.append(each == '"' || each == '\\' ? "\\" + each : each < ' ' ? String.format("\\u%04x", (int) each) : String.valueOf(each));
    return json.append('"').toString();
  }
}
