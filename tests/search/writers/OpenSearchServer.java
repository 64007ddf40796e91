import java.util.List;
import java.util.Map;
import org.opensearch.analysis.common.CommonAnalysisPlugin;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.http.HttpServerTransport;
import org.opensearch.index.reindex.ReindexPlugin;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.plugins.Plugin;
import org.opensearch.transport.Netty4Plugin;

/** An OpenSearch of one node on a free port of the loopback: prints `ready PORT`, and ends with its input. */
public class OpenSearchServer {
    static class OneNode extends Node {
        OneNode(Environment environment) {
            super(environment, List.<Class<? extends Plugin>>of(
                Netty4Plugin.class, CommonAnalysisPlugin.class, ReindexPlugin.class), true);
        }
    }

    public static void main(String[] home) throws Exception {
        var settings = Settings.builder()
            .put("path.home", home[0]).put("network.host", "127.0.0.1")
            .put("http.port", "0").put("transport.port", "0")
            .put("http.type", "netty4").put("transport.type", "netty4")
            .put("discovery.type", "single-node").put("cluster.routing.allocation.disk.threshold_enabled", false)
            .build();
        var node = new OneNode(InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), null, () -> "one"));
        node.start();
        var address = node.injector().getInstance(HttpServerTransport.class).boundAddress().publishAddress();
        System.out.println("ready " + address.getPort());
        while (System.in.read() >= 0) {
        }
        node.close();
        System.exit(0);
    }
}
