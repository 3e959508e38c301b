import java.sql.*;
import java.util.*;

/** pgjdbc: DatabaseMetaData, prepared statements beyond the fifth execution, fetch size, cancel; one JSON line a step. */
public class Jdbc {
  interface Step { Object run() throws Exception; }

  public static void main(String[] arguments) throws Exception {
    Map<String, String> env = System.getenv();
    Properties properties = new Properties();
    properties.setProperty("user", env.get("PGUSER"));
    properties.setProperty("password", env.get("PGPASSWORD"));
    properties.setProperty("sslmode", env.getOrDefault("PGSSLMODE", "disable"));
    String url = "jdbc:postgresql://" + env.get("PGHOST") + ":" + env.get("PGPORT") + "/" + env.get("PGDATABASE");
    for (String mode : new String[] {"extended", "simple"}) {
      properties.setProperty("preferQueryMode", mode);
      try (Connection connection = DriverManager.getConnection(url, properties)) {
        queries(mode, connection);
        if (mode.equals("extended")) metadata(connection);
      }
    }
  }

  static void queries(String mode, Connection connection) throws Exception {
    String columns = "id, region, email, amount, qty, ratio, paid, day, placed_at, created, note, uid, payload";
    step(mode + " types", () -> rows(connection.createStatement()
        .executeQuery("select " + columns + " from sales.orders order by id limit 20")));
    step(mode + " prepared ten times", () -> {
      List<Object> found = new ArrayList<>();
      try (PreparedStatement statement = connection.prepareStatement(
          "select id, email, amount, qty, ratio, paid, day, placed_at, created, uid, payload from sales.orders where id = ? and day > ?")) {
        for (int number = 1; number <= 10; number++) {
          statement.setLong(1, number);
          statement.setDate(2, java.sql.Date.valueOf("2024-01-01"));
          found.add(rows(statement.executeQuery()));
        }
      }
      return found;
    });
    step(mode + " parameter metadata", () -> {
      PreparedStatement statement = connection.prepareStatement("select id from sales.orders where region = ? and qty > ?");
      ParameterMetaData data = statement.getParameterMetaData();
      return List.of(data.getParameterTypeName(1), data.getParameterTypeName(2));
    });
    step(mode + " fetch size", () -> {
      connection.setAutoCommit(false);
      long sum = 0;
      try (Statement statement = connection.createStatement()) {
        statement.setFetchSize(100);
        ResultSet rows = statement.executeQuery("select id from sales.orders");
        while (rows.next()) sum += rows.getLong(1);
      }
      connection.commit();
      connection.setAutoCommit(true);
      return sum;
    });
    step(mode + " max rows", () -> {
      Statement statement = connection.createStatement();
      statement.setMaxRows(7);
      return ((List<?>) rows(statement.executeQuery("select id from sales.orders order by id"))).size();
    });
    step(mode + " no table", () -> rows(connection.createStatement().executeQuery("select * from sales.nothing")));
    step(mode + " cancel", () -> {
      Statement statement = connection.createStatement();
      Timer timer = new Timer(true);
      timer.schedule(new TimerTask() {
        public void run() {
          try { statement.cancel(); } catch (SQLException ignored) { }
        }
      }, 500);
      return rows(statement.executeQuery("select count(*) from sales.orders a, sales.orders b, sales.orders c, sales.orders d where a.id + b.id + c.id + d.id = 7"));
    });
    step(mode + " query time-out", () -> {
      Statement statement = connection.createStatement();
      statement.setQueryTimeout(1);
      return rows(statement.executeQuery("select count(*) from sales.orders a, sales.orders b, sales.orders c, sales.orders d where a.id + b.id + c.id + d.id = 7"));
    });
    step(mode + " goes on", () -> rows(connection.createStatement().executeQuery("select 1")));
    step(mode + " valid", () -> connection.isValid(5));
    step(mode + " read only", () -> { connection.setReadOnly(true); return rows(connection.createStatement().executeQuery("select count(*) from sales.orders")); });
  }

  static void metadata(Connection connection) throws Exception {
    DatabaseMetaData data = connection.getMetaData();
    step("product", () -> data.getDatabaseProductName());
    step("catalogs", () -> rows(data.getCatalogs()));
    step("schemas", () -> rows(data.getSchemas(null, "sales")));
    step("tables", () -> project(data.getTables(null, "sales", "%", new String[] {"TABLE", "VIEW"}), "TABLE_SCHEM", "TABLE_NAME", "TABLE_TYPE"));
    step("columns", () -> project(data.getColumns(null, "sales", "orders", "%"), "COLUMN_NAME", "DATA_TYPE", "TYPE_NAME", "COLUMN_SIZE", "DECIMAL_DIGITS", "NULLABLE", "ORDINAL_POSITION"));
    step("primary keys", () -> project(data.getPrimaryKeys(null, "sales", "orders"), "COLUMN_NAME"));
    step("imported keys", () -> project(data.getImportedKeys(null, "sales", "orders"), "FKCOLUMN_NAME"));
    step("exported keys", () -> project(data.getExportedKeys(null, "sales", "orders"), "FKCOLUMN_NAME"));
    step("cross reference", () -> project(data.getCrossReference(null, "sales", "orders", null, "sales", "orders"), "FKCOLUMN_NAME"));
    step("index info", () -> project(data.getIndexInfo(null, "sales", "orders", false, true), "INDEX_NAME"));
    step("best row identifier", () -> project(data.getBestRowIdentifier(null, "sales", "orders", DatabaseMetaData.bestRowSession, true), "COLUMN_NAME"));
    step("version columns", () -> project(data.getVersionColumns(null, "sales", "orders"), "COLUMN_NAME"));
    step("procedures", () -> project(data.getProcedures(null, "sales", "%"), "PROCEDURE_NAME"));
    step("functions", () -> project(data.getFunctions(null, "sales", "%"), "FUNCTION_NAME"));
    step("user-defined types", () -> project(data.getUDTs(null, "sales", "%", null), "TYPE_NAME"));
    step("table types", () -> project(data.getTableTypes(), "TABLE_TYPE"));
    step("type info has bigint", () -> project(data.getTypeInfo(), "TYPE_NAME").contains(List.of("int8")));
    step("client info", () -> project(data.getClientInfoProperties(), "NAME"));
    step("keywords", () -> data.getSQLKeywords().length() > 0);
    step("read only", () -> data.isReadOnly());
  }

  static void step(String name, Step step) throws Exception {
    String line;
    try {
      line = "\"value\": " + json(step.run());
    } catch (SQLException error) {
      line = "\"error\": " + json(error.getSQLState());
    }
    System.out.println("{\"step\": " + json(name) + ", " + line + "}");
  }

  static Object rows(ResultSet found) throws SQLException {
    int width = found.getMetaData().getColumnCount();
    List<Object> rows = new ArrayList<>();
    while (found.next()) {
      List<Object> row = new ArrayList<>();
      for (int index = 1; index <= width; index++) {
        Object value = found.getObject(index);
        row.add(value instanceof byte[] bytes ? HexFormat.of().formatHex(bytes) : value);
      }
      rows.add(row);
    }
    return rows;
  }

  static List<Object> project(ResultSet found, String... names) throws SQLException {
    List<Object> rows = new ArrayList<>();
    while (found.next()) {
      List<Object> row = new ArrayList<>();
      for (String name : names) row.add(found.getObject(name));
      rows.add(row);
    }
    return rows;
  }

  static String json(Object value) {
    if (value == null || value instanceof Number && !(value instanceof java.math.BigDecimal) || value instanceof Boolean) return String.valueOf(value);
    if (value instanceof List<?> list) {
      StringJoiner parts = new StringJoiner(", ", "[", "]");
      for (Object item : list) parts.add(json(item));
      return parts.toString();
    }
    return '"' + value.toString().replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + '"';
  }
}
