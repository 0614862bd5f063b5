import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.DecoderFactory;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Keeps the newest review of each payment in a database. Usage: java -cp 'lib/*' ReadReviews.java FraudReview.avsc reviews.db */
public final class ReadReviews {
  private static final String NOTE = "insert into seen values (?, ?) on conflict do nothing";
  private static final String KEEP =
      """
      insert into review values (?, ?, ?, ?, ?) on conflict (account, trans_id) do update
      set event_id = excluded.event_id, decision = excluded.decision, reviewed_at = excluded.reviewed_at
      where (excluded.reviewed_at, excluded.event_id) > (review.reviewed_at, review.event_id)""";

  private final HttpClient http = HttpClient.newHttpClient();
  private final ObjectMapper json = new ObjectMapper();
  private final Map<Integer, GenericDatumReader<GenericRecord>> readers = new HashMap<>();
  private final String registryUrl = setting("SCHEMA_REGISTRY_URL", "http://127.0.0.1:8081").replaceAll("/$", "");
  private final Schema readerSchema;
  private final Connection db;

  private ReadReviews(String schemaFile, String databaseFile) throws IOException, SQLException {
    readerSchema = new Schema.Parser().parse(new File(schemaFile));
    db = DriverManager.getConnection("jdbc:sqlite:" + databaseFile);
    try (var statement = db.createStatement()) {
      statement.execute(
          "create table if not exists seen (account text, event_id text, primary key (account, event_id))");
      statement.execute(
          """
          create table if not exists review (
            account text, trans_id text, event_id text, decision text, reviewed_at integer, primary key (account, trans_id)
          )""");
    }
    db.setAutoCommit(false);
  }

  public static void main(String[] arguments) throws Exception {
    var reader =
        new ReadReviews(
            arguments.length > 0 ? arguments[0] : "FraudReview.avsc",
            arguments.length > 1 ? arguments[1] : "reviews.db");
    var settings = security();
    settings.put("bootstrap.servers", setting("KAFKA_BROKERS", "127.0.0.1:9092"));
    settings.put("group.id", setting("KAFKA_GROUP_ID", "read-reviews"));
    settings.put("auto.offset.reset", "earliest");
    settings.put("enable.auto.commit", false);
    var bytes = new ByteArrayDeserializer();
    var main = Thread.currentThread();
    try (var consumer = new KafkaConsumer<>(settings, bytes, bytes)) {
      Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(consumer, main)));
      consumer.subscribe(List.of(setting("TOPIC_REVIEWS", "fraud.reviews")));
      while (true) {
        for (var record : consumer.poll(Duration.ofSeconds(1))) {
          // What cannot be worked on is not passed over: the process ends, and begins there when it is started again.
          if (record.value() != null) reader.work(record);
          // After the work: a crash before this line repeats the record, and the database knows its event_id.
          var partition = new TopicPartition(record.topic(), record.partition());
          consumer.commitSync(Map.of(partition, new OffsetAndMetadata(record.offset() + 1)));
        }
      }
    } catch (WakeupException asked) {
      // The consumer was asked to stop, and is closed.
    }
  }

  /** How the brokers are reached: with TLS, by the authorities of a file or of this machine, and with a user, or not. */
  private static Map<String, Object> security() {
    var settings = new HashMap<String, Object>();
    var protocol = setting("KAFKA_TLS", "false").equals("true") ? "SSL" : "PLAINTEXT";
    var mechanism = setting("KAFKA_SASL_MECHANISM", "none").toUpperCase();
    settings.put("security.protocol", mechanism.equals("NONE") ? protocol : "SASL_" + protocol);
    if (System.getenv("KAFKA_TLS_CA_FILE") != null) {
      settings.put("ssl.truststore.type", "PEM");
      settings.put("ssl.truststore.location", System.getenv("KAFKA_TLS_CA_FILE"));
    }
    if (!mechanism.equals("NONE")) {
      var module = mechanism.equals("PLAIN") ? "plain.PlainLoginModule" : "scram.ScramLoginModule";
      settings.put("sasl.mechanism", mechanism);
      settings.put(
          "sasl.jaas.config",
          "org.apache.kafka.common.security.%s required username=%s password=%s;"
              .formatted(module, quoted(setting("KAFKA_SASL_USERNAME", "")), quoted(setting("KAFKA_SASL_PASSWORD", ""))));
    }
    return settings;
  }

  private static String quoted(String text) {
    return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }

  private static void stop(KafkaConsumer<?, ?> consumer, Thread main) {
    consumer.wakeup();
    try {
      main.join(Duration.ofSeconds(20).toMillis());
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void work(ConsumerRecord<byte[], byte[]> record) throws Exception {
    var review = decode(ByteBuffer.wrap(record.value()));
    var outcome = keep(review);
    var decision = review.get("decision").toString();
    var line = json.createObjectNode();
    line.put("outcome", outcome).put("trans_id", review.get("trans_id").toString());
    System.out.println(line.put("decision", decision).put("action", actionFor(decision)));
  }

  /** Confluent framing: byte 0, 4 bytes of schema id, then the Avro value. */
  private GenericRecord decode(ByteBuffer value) throws IOException, InterruptedException {
    if (value.remaining() < 5 || value.get() != 0) throw new IOException("not in Confluent framing");
    var id = value.getInt();
    if (!readers.containsKey(id)) readers.put(id, new GenericDatumReader<>(writerSchema(id), readerSchema));
    var bytes = DecoderFactory.get().binaryDecoder(value.array(), value.position(), value.remaining(), null);
    return readers.get(id).read(null, bytes);
  }

  private Schema writerSchema(int id) throws IOException, InterruptedException {
    var address = URI.create(registryUrl + "/schemas/ids/" + id);
    var request = HttpRequest.newBuilder(address).timeout(Duration.ofSeconds(10)).build();
    var answer = http.send(request, BodyHandlers.ofString());
    if (answer.statusCode() != 200) throw new IOException("the registry answered " + answer.statusCode());
    return new Schema.Parser().parse(json.readTree(answer.body()).get("schema").asText());
  }

  /** Both rows or neither, so that a crash in between is only a repeat. */
  private String keep(GenericRecord review) throws SQLException {
    try (var note = db.prepareStatement(NOTE);
        var keep = db.prepareStatement(KEEP)) {
      note.setString(1, review.get("account").toString());
      note.setString(2, review.get("event_id").toString());
      var isNew = note.executeUpdate() > 0;
      keep.setString(1, review.get("account").toString());
      keep.setString(2, review.get("trans_id").toString());
      keep.setString(3, review.get("event_id").toString());
      keep.setString(4, review.get("decision").toString());
      keep.setLong(5, (Long) review.get("reviewed_at"));
      var isNewest = isNew && keep.executeUpdate() > 0;
      db.commit();
      if (!isNew) return "duplicate";
      return isNewest ? "newest" : "older";
    } catch (SQLException error) {
      db.rollback();
      throw error;
    }
  }

  /** Only what is known to be good is released: `unknown` and whatever comes later wait for a person. */
  private static String actionFor(String decision) {
    return switch (decision) {
      case "good", "probably_good" -> "release";
      case "bad" -> "cancel";
      default -> "hold";
    };
  }

  private static String setting(String name, String otherwise) {
    return System.getenv().getOrDefault(name, otherwise);
  }
}
