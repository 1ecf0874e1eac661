// Serves the families of an exposition on /metrics with client_golang, as a typical exporter in Go does: the default
// registry, with its metrics of the process and of the runtime. Prints its address, and the CPU time that it used so far
// for each line that it reads. Ends with its standard input.
package main

import (
	"bufio"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
)

func main() {
	if err := registerFamilies(os.Args[1]); err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	http.Handle("/metrics", promhttp.Handler())
	go func() { log.Fatal(http.Serve(listener, nil)) }()
	fmt.Printf("http://%s\n", listener.Addr())
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		fmt.Printf("%f\n", cpuMilliseconds())
	}
}

func cpuMilliseconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		log.Fatal(err)
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e6
}

// registerFamilies registers the families of a file in the text format, except those that every client has of its own.
func registerFamilies(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	var parser expfmt.TextParser
	families, err := parser.TextToMetricFamilies(file)
	if err != nil {
		return err
	}
	for name, family := range families {
		if !strings.HasPrefix(name, "process_") && !strings.HasPrefix(name, "nodejs_") {
			registerFamily(name, family)
		}
	}
	return nil
}

func registerFamily(name string, family *dto.MetricFamily) {
	var labelNames []string
	for _, pair := range family.Metric[0].Label {
		labelNames = append(labelNames, pair.GetName())
	}
	switch family.GetType() {
	case dto.MetricType_COUNTER:
		vector := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: family.GetHelp()}, labelNames)
		for _, metric := range family.Metric {
			vector.WithLabelValues(labelValues(metric)...).Add(metric.Counter.GetValue())
		}
		prometheus.MustRegister(vector)
	case dto.MetricType_HISTOGRAM:
		var bounds []float64
		for _, bucket := range family.Metric[0].Histogram.Bucket {
			bounds = append(bounds, bucket.GetUpperBound())
		}
		options := prometheus.HistogramOpts{Name: name, Help: family.GetHelp(), Buckets: bounds}
		vector := prometheus.NewHistogramVec(options, labelNames)
		for _, metric := range family.Metric {
			vector.WithLabelValues(labelValues(metric)...).Observe(metric.Histogram.GetSampleSum())
		}
		prometheus.MustRegister(vector)
	default:
		vector := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: family.GetHelp()}, labelNames)
		for _, metric := range family.Metric {
			vector.WithLabelValues(labelValues(metric)...).Set(metric.Gauge.GetValue())
		}
		prometheus.MustRegister(vector)
	}
}

func labelValues(metric *dto.Metric) []string {
	var values []string
	for _, pair := range metric.Label {
		values = append(values, pair.GetValue())
	}
	return values
}
