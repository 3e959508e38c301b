// A client of olap4j: walks the metadata of a connection and runs statements in MDX, over XMLA or in Mondrian itself.
// It reads commands from its input, one a line, and answers each by one line of JSON.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import mondrian.olap.CacheControl;
import mondrian.rolap.RolapConnection;
import org.olap4j.Cell;
import org.olap4j.CellSet;
import org.olap4j.CellSetAxis;
import org.olap4j.OlapConnection;
import org.olap4j.OlapDatabaseMetaData;
import org.olap4j.OlapStatement;
import org.olap4j.Position;
import org.olap4j.layout.RectangularCellSetFormatter;
import org.olap4j.metadata.Catalog;
import org.olap4j.metadata.Cube;
import org.olap4j.metadata.Dimension;
import org.olap4j.metadata.Hierarchy;
import org.olap4j.metadata.Level;
import org.olap4j.metadata.Measure;
import org.olap4j.metadata.Member;
import org.olap4j.metadata.NamedSet;
import org.olap4j.metadata.Property;
import org.olap4j.metadata.Schema;

public class Olap {
  public static void main(String[] args) throws Exception {
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    System.setOut(System.err);
    Class.forName("org.olap4j.driver.xmla.XmlaOlap4jDriver");
    Class.forName("mondrian.olap4j.MondrianOlap4jDriver");
    OlapConnection connection = null;
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] words = line.split(" ", -1);
      String[] given = new String[words.length];
      for (int i = 1; i < words.length; i++)
        given[i] = new String(Base64.getDecoder().decode(words[i]), StandardCharsets.UTF_8);
      Object answer;
      try {
        if (words[0].equals("connect")) {
          connection = DriverManager.getConnection(given[1], given[2], given[3]).unwrap(OlapConnection.class);
          answer = "connected";
        } else answer = answer(connection, words[0], given);
      } catch (Throwable error) {
        List<Object> causes = new ArrayList<>();
        for (Throwable each = error; each != null && causes.size() < 10; each = each.getCause())
          causes.add(each.getClass().getSimpleName() + ": " + each.getMessage());
        answer = object("error", causes);
      }
      StringBuilder text = new StringBuilder();
      write(text, answer);
      out.println(text);
    }
  }

  static Object answer(OlapConnection connection, String command, String[] given) throws Exception {
    switch (command) {
      case "walk":
        return walk(connection);
      case "rowset":
        return rowset(
            connection.getMetaData(), given[1], given.length > 2 ? given[2] : null, given.length > 3 ? given[3] : null);
      case "lookup":
        return lookup(connection, given[1], given[2], given[3]);
      case "mdx":
        return cellSet(connection, given[1]);
      case "layout":
        StringWriter drawn = new StringWriter();
        new RectangularCellSetFormatter(false).format(
            connection.createStatement().executeOlapQuery(given[1]), new PrintWriter(drawn));
        return drawn.toString();
      case "flush":
        CacheControl control = connection.unwrap(RolapConnection.class).getCacheControl(null);
        control.flushSchemaCache();
        return "flushed";
      default:
        throw new IllegalArgumentException(command);
    }
  }

  static Object walk(OlapConnection connection) throws Exception {
    List<Object> catalogs = new ArrayList<>();
    for (Catalog catalog : connection.getOlapCatalogs()) {
      List<Object> schemas = new ArrayList<>();
      for (Schema schema : catalog.getSchemas()) {
        List<Object> cubes = new ArrayList<>();
        for (Cube cube : schema.getCubes()) cubes.add(cube(cube));
        schemas.add(object("name", schema.getName(), "cubes", cubes));
      }
      catalogs.add(object("name", catalog.getName(), "schemas", schemas));
    }
    return catalogs;
  }

  static Object cube(Cube cube) throws Exception {
    List<Object> dimensions = new ArrayList<>();
    for (Dimension dimension : cube.getDimensions()) {
      List<Object> hierarchies = new ArrayList<>();
      for (Hierarchy hierarchy : dimension.getHierarchies()) {
        List<Object> levels = new ArrayList<>();
        for (Level level : hierarchy.getLevels()) {
          List<Object> properties = new ArrayList<>();
          for (Property property : level.getProperties()) properties.add(property.getName());
          levels.add(
              object(
                  "name", level.getUniqueName(), "depth", level.getDepth(), "type", level.getLevelType().name(),
                  "properties", properties, "members", members(level.getMembers())));
        }
        hierarchies.add(
            object(
                "name", hierarchy.getUniqueName(), "hasAll", hierarchy.hasAll(),
                "default", hierarchy.getDefaultMember().getUniqueName(), "roots",
                members(hierarchy.getRootMembers()), "levels", levels));
      }
      dimensions.add(
          object(
              "name", dimension.getUniqueName(), "type", dimension.getDimensionType().name(), "default",
              dimension.getDefaultHierarchy().getUniqueName(), "hierarchies", hierarchies));
    }
    List<Object> measures = new ArrayList<>();
    for (Measure measure : cube.getMeasures())
      measures.add(
          object(
              "name", measure.getUniqueName(), "caption", measure.getCaption(), "aggregator",
              measure.getAggregator().name(), "visible", measure.isVisible()));
    List<Object> sets = new ArrayList<>();
    for (NamedSet set : cube.getSets()) sets.add(set.getName());
    return object("name", cube.getName(), "dimensions", dimensions, "measures", measures, "sets", sets);
  }

  static List<Object> members(Iterable<? extends Member> members) throws Exception {
    List<Object> found = new ArrayList<>();
    for (Member member : members) found.add(member.getUniqueName());
    return found;
  }

  /** A member by its path, with what is around it. */
  static Object lookup(OlapConnection connection, String cubeName, String hierarchyName, String name)
      throws Exception {
    for (Cube cube : connection.getOlapSchema().getCubes()) {
      if (!cube.getName().equals(cubeName)) continue;
      for (Hierarchy hierarchy : cube.getHierarchies()) {
        if (!hierarchy.getUniqueName().equals(hierarchyName)) continue;
        for (Level level : hierarchy.getLevels())
          for (Member member : level.getMembers())
            if (member.getUniqueName().equals(name)) {
              Member parent = member.getParentMember();
              return object(
                  "name", member.getUniqueName(), "caption", member.getCaption(), "depth", member.getDepth(),
                  "ordinal", member.getOrdinal() >= 0, "type", member.getMemberType().name(), "parent",
                  parent == null ? null : parent.getUniqueName(), "children", members(member.getChildMembers()),
                  "ancestors", members(member.getAncestorMembers()));
            }
      }
    }
    return null;
  }

  static Object rowset(OlapDatabaseMetaData meta, String name, String cube, String hierarchy)
      throws Exception {
    ResultSet rows;
    switch (name) {
      case "databases": rows = meta.getDatabases(); break;
      case "catalogs": rows = meta.getCatalogs(); break;
      case "literals": rows = meta.getLiterals(); break;
      case "properties": rows = meta.getDatabaseProperties(null, null); break;
      case "functions": rows = meta.getOlapFunctions(null); break;
      case "cubes": rows = meta.getCubes(null, null, cube); break;
      case "dimensions": rows = meta.getDimensions(null, null, cube, null); break;
      case "hierarchies": rows = meta.getHierarchies(null, null, cube, null, null); break;
      case "levels": rows = meta.getLevels(null, null, cube, null, null, null); break;
      case "measures": rows = meta.getMeasures(null, null, cube, null, null); break;
      case "memberProperties": rows = meta.getProperties(null, null, cube, null, null, null, null, null); break;
      case "members": rows = meta.getMembers(null, null, cube, null, hierarchy, null, null, null); break;
      case "sets": rows = meta.getSets(null, null, cube, null); break;
      case "actions": rows = meta.getActions(null, null, cube, null); break;
      case "keywords": return object("columns", List.of("Keyword"), "rows", List.of(List.of(meta.getMdxKeywords())));
      default: throw new IllegalArgumentException(name);
    }
    ResultSetMetaData shape = rows.getMetaData();
    List<Object> columns = new ArrayList<>();
    for (int i = 1; i <= shape.getColumnCount(); i++) columns.add(shape.getColumnName(i));
    List<Object> all = new ArrayList<>();
    while (rows.next()) {
      List<Object> row = new ArrayList<>();
      for (int i = 1; i <= columns.size(); i++) row.add(rows.getString(i));
      all.add(row);
    }
    return object("columns", columns, "rows", all);
  }

  static Object cellSet(OlapConnection connection, String text) throws Exception {
    try (OlapStatement statement = connection.createStatement()) {
      CellSet cells = statement.executeOlapQuery(text);
      List<Object> axes = new ArrayList<>();
      long count = 1;
      for (CellSetAxis axis : cells.getAxes()) {
        List<Object> tuples = new ArrayList<>();
        for (Position position : axis.getPositions()) {
          List<Object> tuple = new ArrayList<>();
          for (Member member : position.getMembers())
            tuple.add(
                object(
                    "name", member.getUniqueName(), "caption", member.getCaption(), "level",
                    member.getLevel().getUniqueName(), "depth", member.getDepth()));
          tuples.add(tuple);
        }
        axes.add(tuples);
        count *= axis.getPositionCount();
      }
      List<Object> values = new ArrayList<>();
      List<Object> formatted = new ArrayList<>();
      for (int ordinal = 0; ordinal < count; ordinal++) {
        Cell cell = cells.getCell(ordinal);
        if (cell.isError()) values.add(object("error", String.valueOf(cell.getValue())));
        else values.add(cell.isNull() ? null : cell.getValue());
        formatted.add(cell.getFormattedValue());
      }
      return object("axes", axes, "values", values, "formatted", formatted);
    }
  }

  static Map<String, Object> object(Object... pairs) {
    Map<String, Object> made = new LinkedHashMap<>();
    for (int i = 0; i < pairs.length; i += 2) made.put((String) pairs[i], pairs[i + 1]);
    return made;
  }

  static void write(StringBuilder out, Object value) {
    if (value == null || value instanceof Boolean) out.append(value);
    else if (value instanceof Number) {
      double number = ((Number) value).doubleValue();
      // JSON has no infinities.
      out.append(Double.isFinite(number) ? value.toString() : "\"" + number + "\"");
    } else if (value instanceof List) {
      String before = "[";
      if (((List<?>) value).isEmpty()) out.append(before);
      for (Object each : (List<?>) value) {
        out.append(before);
        write(out, each);
        before = ",";
      }
      out.append("]");
    } else if (value instanceof Map) {
      String before = "{";
      for (Map.Entry<?, ?> each : ((Map<?, ?>) value).entrySet()) {
        out.append(before);
        write(out, each.getKey());
        out.append(":");
        write(out, each.getValue());
        before = ",";
      }
      out.append("}");
    } else {
      out.append('"');
      for (char each : value.toString().toCharArray())
        if (each == '"' || each == '\\') out.append('\\').append(each);
        else if (each < ' ') out.append(String.format("\\u%04x", (int) each));
        else out.append(each);
      out.append('"');
    }
  }
}
