import java.io.InputStream;
import java.util.*;
import org.apache.iceberg.*;
import org.apache.iceberg.catalog.*;
import org.apache.iceberg.expressions.*;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.rest.RESTCatalog;

/** Iceberg's Java client has scans of one table planned by its catalog, and reads one planned file; a line for each. */
public class ServerPlanning {
  public static void main(String[] names) throws Exception {
    Map<String, String> env = System.getenv();
    Map<String, String> settings = new HashMap<>();
    settings.put("uri", env.get("URI"));
    settings.put("header.X-Svc-Session", env.get("SESSION"));
    settings.put("header.X-Iceberg-Access-Delegation", "remote-signing");
    if (env.containsKey("MODE")) settings.put("scan-planning-mode", env.get("MODE"));
    try (RESTCatalog catalog = new RESTCatalog()) {
      catalog.initialize("covenant", settings);
      Table table = catalog.loadTable(TableIdentifier.of("sales", "people"));
      System.out.println("\nSCAN " + table.newScan().getClass().getSimpleName());
      System.out.println("ALL " + plan(table.newScan()).size());
      List<FileScanTask> few = plan(table.newScan().filter(
          Expressions.or(Expressions.lessThanOrEqual("id", 25L), Expressions.equal("id", 24995L))));
      System.out.println("FEW " + few.size());
      System.out.println("FIRST " + few.get(0).file().location());
      try (InputStream in = table.io().newInputFile(few.get(0).file().location(), few.get(0).file().fileSizeInBytes()).newStream()) {
        System.out.println("READ " + new String(in.readAllBytes()));
      }
    } catch (RuntimeException thrown) {
      System.out.println("\nOUTCOME " + thrown.getClass().getSimpleName() + ": " + thrown.getMessage().split("\n")[0]);
    }
  }

  private static List<FileScanTask> plan(TableScan scan) throws Exception {
    List<FileScanTask> tasks = new ArrayList<>();
    try (CloseableIterable<FileScanTask> planned = scan.planFiles()) {
      planned.forEach(tasks::add);
    }
    return tasks;
  }
}
