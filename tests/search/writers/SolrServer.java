import java.util.Properties;
import org.apache.solr.embedded.JettyConfig;
import org.apache.solr.embedded.JettySolrRunner;

/** A Solr on a free port of the loopback: prints `ready PORT`, and ends with its input. */
public class SolrServer {
    public static void main(String[] home) throws Exception {
        var config = JettyConfig.builder().setContext("/solr").setPort(0).build();
        var server = new JettySolrRunner(home[0], new Properties(), config);
        server.start();
        System.out.println("ready " + server.getLocalPort());
        while (System.in.read() >= 0) {
        }
        server.stop();
        System.exit(0);
    }
}
