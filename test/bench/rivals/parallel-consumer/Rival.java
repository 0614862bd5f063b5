import io.confluent.parallelconsumer.ParallelConsumerOptions;
import io.confluent.parallelconsumer.ParallelConsumerOptions.CommitMode;
import io.confluent.parallelconsumer.ParallelConsumerOptions.ProcessingOrder;
import io.confluent.parallelconsumer.ParallelStreamProcessor;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;

/** Confluent Parallel Consumer, order per key, one blocking request of java.net.http a record. */
public class Rival {
  public static void main(String[] args) {
    Map<String, String> env = System.getenv();
    Map<String, Object> settings =
        Map.of(
            "bootstrap.servers", env.get("BROKER"),
            "group.id", env.get("GROUP"),
            "auto.offset.reset", "earliest",
            "enable.auto.commit", false,
            "session.timeout.ms", 30_000);
    var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new ByteArrayDeserializer());
    var options =
        ParallelConsumerOptions.<String, byte[]>builder()
            .consumer(consumer)
            .ordering(ProcessingOrder.KEY)
            .maxConcurrency(Integer.parseInt(env.get("CONCURRENCY")))
            .commitMode(CommitMode.PERIODIC_CONSUMER_ASYNCHRONOUS)
            .commitInterval(Duration.ofMillis(Long.parseLong(env.get("COMMIT_MS"))))
            .build();
    var processor = ParallelStreamProcessor.createEosStreamProcessor(options);
    var client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    var target = URI.create(env.get("URL"));
    processor.subscribe(List.of(env.get("TOPIC")));
    processor.poll(
        context -> {
          var request =
              HttpRequest.newBuilder(target)
                  .header("content-type", "application/json")
                  .POST(HttpRequest.BodyPublishers.ofByteArray(context.getSingleConsumerRecord().value()))
                  .build();
          try {
            var answer = client.send(request, HttpResponse.BodyHandlers.ofByteArray());
            if (answer.statusCode() >= 300) throw new IllegalStateException("status " + answer.statusCode());
          } catch (java.io.IOException | InterruptedException error) {
            throw new IllegalStateException(error);
          }
        });
  }
}
