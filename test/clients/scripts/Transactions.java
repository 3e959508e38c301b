import java.util.*;
import org.apache.iceberg.*;
import org.apache.iceberg.catalog.*;
import org.apache.iceberg.rest.RESTCatalog;

/** Iceberg's Java client appends to the tables that are named, in one transaction; one line says what came of it. */
public class Transactions {
  public static void main(String[] names) throws Exception {
    Map<String, String> env = System.getenv();
    try (RESTCatalog catalog = new RESTCatalog()) {
      catalog.initialize("covenant", Map.of("uri", env.get("URI"), "header.X-Svc-Session", env.get("SESSION")));
      List<TableCommit> commits = new ArrayList<>();
      for (String name : names) {
        TableIdentifier table = TableIdentifier.of("sales", name);
        BaseTransaction transaction = (BaseTransaction) catalog.loadTable(table).newTransaction();
        transaction.newFastAppend().appendFile(file()).commit();
        commits.add(TableCommit.create(table, transaction.startMetadata(), transaction.currentMetadata()));
      }
      if (env.containsKey("MEANWHILE"))
        catalog.loadTable(TableIdentifier.of("sales", env.get("MEANWHILE"))).newFastAppend().appendFile(file()).commit();
      try {
        catalog.commitTransaction(commits);
        System.out.println("\nOUTCOME committed");
      } catch (RuntimeException thrown) {
        System.out.println("\nOUTCOME " + thrown.getClass().getSimpleName() + ": " + thrown.getMessage().split("\n")[0]);
      }
    }
  }

  /** Nothing reads it. */
  private static DataFile file() {
    return DataFiles.builder(PartitionSpec.unpartitioned())
        .withPath("/data/" + UUID.randomUUID() + ".parquet")
        .withFileSizeInBytes(10)
        .withRecordCount(1)
        .build();
  }
}
