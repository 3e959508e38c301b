import java.math.BigDecimal;
import java.nio.file.*;
import java.sql.*;
import java.time.*;
import java.util.*;

/** pgjdbc: each case with the setter of its type, in both query modes. Tab-separated cases; one line of JSON a step. */
public class TypedParameters {
  public static void main(String[] arguments) throws Exception {
    Map<String, String> env = System.getenv();
    Properties properties = new Properties();
    properties.setProperty("user", env.get("PGUSER"));
    properties.setProperty("password", env.get("PGPASSWORD"));
    properties.setProperty("sslmode", "disable");
    String url = "jdbc:postgresql://" + env.get("PGHOST") + ":" + env.get("PGPORT") + "/" + env.get("PGDATABASE");
    for (String mode : new String[] {"extended", "simple"}) {
      properties.setProperty("preferQueryMode", mode);
      try (Connection connection = DriverManager.getConnection(url, properties)) {
        for (String line : Files.readAllLines(Path.of(arguments[0]))) run(mode, connection, line.split("\t", -1));
      }
    }
  }

  static void run(String mode, Connection connection, String[] fields) {
    String text = fields[1].replaceAll("\\$\\d+", "?");
    StringBuilder rows = new StringBuilder();
    try (PreparedStatement statement = connection.prepareStatement(text)) {
      for (int number = 1; 2 * number < fields.length; number++)
        bind(connection, statement, number, fields[2 * number], fields[2 * number + 1]);
      ResultSet found = statement.executeQuery();
      int columns = found.getMetaData().getColumnCount();
      for (int column = 1; column <= columns; column++) rows.append(found.getMetaData().getColumnTypeName(column)).append(' ');
      while (found.next()) {
        for (int column = 1; column <= columns; column++) rows.append('|').append(found.getString(column));
        rows.append(';');
      }
      System.out.println("{\"step\":\"" + mode + " " + fields[0] + "\",\"value\":\"" + rows.toString().replace("\"", "'") + "\"}");
    } catch (SQLException error) {
      System.out.println("{\"step\":\"" + mode + " " + fields[0] + "\",\"error\":\"" + error.getSQLState() + "\"}");
    }
  }

  static void bind(Connection connection, PreparedStatement statement, int number, String type, String value)
      throws SQLException {
    boolean isNull = value.equals("\\N");
    switch (type) {
      case "int2" -> { if (isNull) statement.setNull(number, Types.SMALLINT); else statement.setShort(number, Short.parseShort(value)); }
      case "int4" -> { if (isNull) statement.setNull(number, Types.INTEGER); else statement.setInt(number, Integer.parseInt(value)); }
      case "int8" -> { if (isNull) statement.setNull(number, Types.BIGINT); else statement.setLong(number, Long.parseLong(value)); }
      case "numeric" -> { if (isNull) statement.setNull(number, Types.NUMERIC); else statement.setBigDecimal(number, new BigDecimal(value)); }
      case "float4" -> { if (isNull) statement.setNull(number, Types.REAL); else statement.setFloat(number, Float.parseFloat(value)); }
      case "float8" -> { if (isNull) statement.setNull(number, Types.DOUBLE); else statement.setDouble(number, Double.parseDouble(value)); }
      case "bool" -> { if (isNull) statement.setNull(number, Types.BOOLEAN); else statement.setBoolean(number, Boolean.parseBoolean(value)); }
      case "date" -> statement.setObject(number, isNull ? null : LocalDate.parse(value), Types.DATE);
      case "timestamp" -> statement.setObject(number, isNull ? null : LocalDateTime.parse(value), Types.TIMESTAMP);
      case "timestamptz" -> statement.setObject(number, isNull ? null : OffsetDateTime.parse(value), Types.TIMESTAMP_WITH_TIMEZONE);
      case "uuid" -> statement.setObject(number, UUID.fromString(value));
      case "int4[]", "int8[]", "text[]" -> {
        String element = type.substring(0, type.length() - 2);
        Object[] elements = value.isEmpty() ? new Object[0] : value.split(",");
        if (!element.equals("text")) elements = Arrays.stream(elements).map(each -> (Object) Long.valueOf((String) each)).toArray();
        if (element.equals("int4")) elements = Arrays.stream(elements).map(each -> (Object) ((Long) each).intValue()).toArray();
        statement.setArray(number, connection.createArrayOf(element, elements));
      }
      default -> { if (isNull) statement.setNull(number, Types.VARCHAR); else statement.setString(number, value); }
    }
  }
}
